/** Owns writing a JSON Schema as a TypeScript-like type, which is a fraction of its length. */

interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

/** Characters of an object on one line. */
const LINE_CHARS_MAX = 100

function objectText(schema: Schema, indent: string): string {
  const inner = `${indent}  `
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${key}${schema.required?.includes(name) ? '' : '?'}: ${schemaText(property, inner)}`
  })
  const rest = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties
  if (typeof rest === 'object') fields.push(`[key: string]: ${schemaText(rest, inner)}`)
  const line = fields.length === 0 ? '{}' : `{ ${fields.join('; ')} }`
  if (indent.length + line.length <= LINE_CHARS_MAX && !line.includes('\n')) return line
  return ['{', ...fields.map((field) => `${inner}${field}`), `${indent}}`].join('\n')
}

function unionText(choices: readonly Schema[], indent: string): string {
  const line = choices.map((choice) => schemaText(choice, indent)).join(' | ')
  if (indent.length + line.length <= LINE_CHARS_MAX && !line.includes('\n')) return line
  const inner = `${indent}  `
  return choices.map((choice) => `\n${inner}| ${schemaText(choice, `${inner}  `)}`).join('')
}

/** `schema` as a type; what has no such form is left as JSON. */
export function schemaText(schema: Schema, indent = ''): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return unionText(choices, indent)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  switch (schema.type) {
    case 'object':
      return objectText(schema, indent)
    case 'array': {
      const { items = {} } = schema
      const item = schemaText(items, indent)
      const choices = items.anyOf ?? items.oneOf ?? items.enum
      return choices !== undefined && choices.length > 1 ? `(${item})[]` : `${item}[]`
    }
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return schema.type
    case undefined:
    default:
      return Object.keys(schema).length === 0 ? 'unknown' : JSON.stringify(schema)
  }
}
