/** Owns TypeScript declarations of tools: sorted, and equal for equal tools. */
import type { Json, JsonObject } from '@sluice/base'
import type { ToolInfo } from '@sluice/tools'

/** How deep a type is spelled out; deeper parts are `Json`. */
const DEPTH_MAX = 16
const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/

const head = `type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
declare class ToolError extends Error {
  code: string
  tool: string
  reason: string
  executed: 'yes' | 'no' | 'unknown'
}
declare const console: { log(...values: unknown[]): void; warn(...values: unknown[]): void; error(...values: unknown[]): void }
declare function sleep(ms: number): Promise<void>
`

function asObject(value: Json | undefined): JsonObject | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : undefined
}

function asArray(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? (value as readonly Json[]) : undefined
}

function keyOf(name: string): string {
  return identifier.test(name) ? name : JSON.stringify(name)
}

function typeName(tool: string, part: string): string {
  const words = `${tool} ${part}`.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') || 'Type'
}

/** A doc comment cannot be ended from inside. */
function comment(text: string, indent: string): string {
  const lines = text.replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

/** The types of one tool; what its schema defines and refers to becomes named types. */
class TypeWriter {
  readonly named = new Map<string, string>()
  private readonly names = new Map<string, string>()
  private readonly tool: string
  private readonly taken: Set<string>
  private root: JsonObject = {}

  constructor(tool: string, taken: Set<string>) {
    this.tool = tool
    this.taken = taken
  }

  write(schema: JsonObject, label: string): string {
    this.root = schema
    this.names.clear()
    return this.type(schema, 0, label)
  }

  private type(schema: Json | undefined, depth: number, label: string): string {
    const object = asObject(schema)
    if (!object || depth > DEPTH_MAX) return 'Json'
    if (typeof object['$ref'] === 'string') return this.reference(object['$ref'], depth, label)
    if ('const' in object) return literal(object['const'])
    const values = asArray(object['enum'])
    if (values) return union(values.map(literal))
    const either = asArray(object['anyOf']) ?? asArray(object['oneOf'])
    if (either) return union(either.map((part) => this.type(part, depth + 1, label)))
    const all = asArray(object['allOf'])
    if (all) return all.map((part) => wrapped(this.type(part, depth + 1, label))).join(' & ') || 'Json'
    const types = asArray(object['type']) ?? [object['type'] ?? null]
    return union(types.map((type) => this.ofType(type, object, depth, label)))
  }

  private ofType(type: Json, schema: JsonObject, depth: number, label: string): string {
    if (type === 'string' || type === 'boolean' || type === 'number' || type === 'null') return type
    if (type === 'integer') return 'number'
    if (type === 'array') return this.array(schema, depth, label)
    if (type === 'object' || asObject(schema['properties'])) return this.object(schema, depth, label)
    return 'Json'
  }

  private array(schema: JsonObject, depth: number, label: string): string {
    const tuple = asArray(schema['prefixItems'])
    if (tuple) return `[${tuple.map((item) => this.type(item, depth + 1, label)).join(', ')}]`
    return `${wrapped(this.type(schema['items'], depth + 1, label))}[]`
  }

  private object(schema: JsonObject, depth: number, label: string): string {
    const properties = asObject(schema['properties']) ?? {}
    const required = asArray(schema['required']) ?? []
    const names = Object.keys(properties).sort()
    const fields = names.map((name) => {
      const optional = required.includes(name) ? '' : '?'
      return `${keyOf(name)}${optional}: ${this.type(properties[name], depth + 1, label)}`
    })
    const more = schema['additionalProperties']
    const open = asObject(more)
    if (names.length === 0)
      return more === false ? '{}' : `{ [key: string]: ${open ? this.type(open, depth + 1, label) : 'Json'} }`
    if (open || more === true)
      fields.push(
        `[key: string]: ${open && names.length === 0 ? this.type(open, depth + 1, label) : 'Json | undefined'}`,
      )
    return `{ ${fields.join('; ')} }`
  }

  /** A reference inside the schema becomes a named type, written once; so recursion ends. */
  private reference(ref: string, depth: number, label: string): string {
    const known = this.names.get(ref)
    if (known !== undefined) return known
    let target: Json | undefined = this.root
    if (ref !== '#' && !ref.startsWith('#/')) return 'Json'
    for (const part of ref.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      const holder: JsonObject | undefined = asObject(target)
      target = holder && Object.hasOwn(holder, key) ? holder[key] : undefined
    }
    if (!asObject(target)) return 'Json'
    let name = typeName(this.tool, ref === '#' ? label : (ref.split('/').at(-1) ?? ''))
    for (let n = 2; this.taken.has(name); n++) name = `${name.replace(/\d+$/, '')}${n}`
    this.taken.add(name)
    this.names.set(ref, name)
    this.named.set(name, this.type(target, depth + 1, label))
    return name
  }
}

function literal(value: Json): string {
  return value !== null && typeof value === 'object' ? 'Json' : JSON.stringify(value)
}

function union(parts: readonly string[]): string {
  return [...new Set(parts)].join(' | ') || 'Json'
}

function wrapped(type: string): string {
  return /[|&]/.test(type) ? `(${type})` : type
}

/** Declarations of everything that a program can use. */
export function declarationsOf(tools: readonly ToolInfo[]): string {
  const taken = new Set(['Json', 'ToolError'])
  const named: [string, string][] = []
  const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const members = sorted.map((tool) => {
    const writer = new TypeWriter(tool.name, taken)
    const args = writer.write(tool.parameters, 'Args')
    const optional = (asArray(tool.parameters['required']) ?? []).length === 0 ? '?' : ''
    const output = tool.output ? writer.write(tool.output, 'Output') : 'Json'
    named.push(...writer.named)
    return `${comment(tool.description, '  ')}  ${keyOf(tool.name)}(args${optional}: ${args}): Promise<${output}>\n`
  })
  const types = named.map(([name, type]) => `type ${name} = ${type}\n`).join('')
  return `${head}${types}declare const tools: {\n${members.join('')}}\n`
}
