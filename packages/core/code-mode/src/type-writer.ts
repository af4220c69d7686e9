/** Owns what a JSON Schema looks like as a TypeScript type. */
import type { Json, JsonObject } from '@sluice/base'

/** How deep a type is spelled out; deeper parts are `Json`. */
const DEPTH_MAX = 16
const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/

function asObject(value: Json | undefined): JsonObject | undefined {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : undefined
}

export function asArray(value: Json | undefined): readonly Json[] | undefined {
  return Array.isArray(value) ? (value as readonly Json[]) : undefined
}

export function keyOf(name: string): string {
  return identifier.test(name) ? name : JSON.stringify(name)
}

function typeName(tool: string, part: string): string {
  const words = `${tool} ${part}`.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}

/** A comment cannot be ended from inside. */
export function inComment(text: string): string {
  return text.replaceAll('*/', '*\\/')
}

/** The types of one tool; what its schema defines and refers to becomes named types. */
export class TypeWriter {
  readonly named = new Map<string, string>()
  private readonly names = new Map<string, string>()
  /** Named types that are being written and have not got as far as an object or a list: to refer to them is to say nothing. */
  private bare = new Set<string>()
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
    const parts = (key: string) => (asArray(object[key]) ?? []).map((part) => this.type(part, depth + 1, label))
    const either = union([...parts('anyOf'), ...parts('oneOf')])
    // What says nothing more is left out; what a schema says in several ways holds at once.
    const all = [this.ownType(object, depth, label), either, ...parts('allOf')].filter((type) => type !== 'Json')
    return all.length > 1 ? [...new Set(all)].map(wrapped).join(' & ') : (all[0] ?? 'Json')
  }

  private ownType(schema: JsonObject, depth: number, label: string): string {
    const types = asArray(schema['type']) ?? [schema['type'] ?? null]
    return 'type' in schema || asObject(schema['properties'])
      ? union(types.map((type) => this.ofType('type' in schema ? type : 'object', schema, depth, label)))
      : 'Json'
  }

  private ofType(type: Json, schema: JsonObject, depth: number, label: string): string {
    if (type === 'string' || type === 'boolean' || type === 'number' || type === 'null') return type
    if (type === 'integer') return 'number'
    if (type !== 'array' && type !== 'object') return 'Json'
    const { bare } = this
    this.bare = new Set()
    const made = type === 'array' ? this.array(schema, depth, label) : this.object(schema, depth, label)
    this.bare = bare
    return made
  }

  private array(schema: JsonObject, depth: number, label: string): string {
    const tuple = asArray(schema['prefixItems']) ?? asArray(schema['items'])
    if (tuple) return `[${tuple.map((item) => this.type(item, depth + 1, label)).join(', ')}]`
    return `${wrapped(this.type(schema['items'], depth + 1, label))}[]`
  }

  private object(schema: JsonObject, depth: number, label: string): string {
    const properties = asObject(schema['properties']) ?? {}
    const required = asArray(schema['required']) ?? []
    const names = Object.keys(properties).sort()
    const fields = names.map((name) => {
      const property = properties[name]
      const said = asObject(property)?.['description']
      const note = typeof said === 'string' && said !== '' ? `/** ${inComment(said).replace(/\s+/g, ' ')} */ ` : ''
      return `${note}${keyOf(name)}${required.includes(name) ? '' : '?'}: ${this.type(property, depth + 1, label)}`
    })
    const more = schema['additionalProperties']
    const open = asObject(more)
    if (names.length === 0)
      return more === false ? '{}' : `{ [key: string]: ${open ? this.type(open, depth + 1, label) : 'Json'} }`
    // Every named field must fit the type of the others as well, so it says little.
    if (open || more === true) fields.push('[key: string]: unknown')
    return `{ ${fields.join('; ')} }`
  }

  /** A reference inside the schema becomes a named type, written once; so recursion ends. */
  private reference(ref: string, depth: number, label: string): string {
    const known = this.names.get(ref)
    if (known !== undefined) return this.bare.has(known) ? 'Json' : known
    const target = this.find(ref)
    if (!asObject(target)) return 'Json'
    let name = typeName(this.tool, ref === '#' ? label : (ref.split('/').at(-1) ?? ''))
    for (let n = 2; this.taken.has(name); n++) name = `${name.replace(/\d+$/, '')}${n}`
    this.taken.add(name)
    this.names.set(ref, name)
    this.bare.add(name)
    this.named.set(name, this.type(target, depth + 1, label))
    this.bare.delete(name)
    return name
  }

  /** By pointer, or by the name that a definition gives itself. */
  private find(ref: string): Json | undefined {
    const definitions = asObject(this.root['$defs']) ?? asObject(this.root['definitions']) ?? {}
    const named = Object.values(definitions).find((one) => asObject(one)?.['$id'] === ref)
    if (named !== undefined || (ref !== '#' && !ref.startsWith('#/'))) return named
    let target: Json | undefined = this.root
    for (const part of ref.split('/').slice(1)) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
      const holder: JsonObject | undefined = asObject(target)
      target = holder && Object.hasOwn(holder, key) ? holder[key] : undefined
    }
    return target
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
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
