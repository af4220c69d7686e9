/** Owns fitting a value to a JSON Schema that it nearly fits: values that arrive as strings, and nulls for optional fields. */
import { isObject, type Json, type JsonObject, losslessCopy } from './json.ts'

export interface Fitted {
  readonly value: Json
  /** What was changed, each with its path. */
  readonly repairs: readonly string[]
}

const numberPattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
/** How deep repair looks into arguments. */
const DEPTH_MAX = 32

function typesOf(schema: JsonObject): readonly string[] {
  const type = schema['type']
  if (typeof type === 'string') return [type]
  return Array.isArray(type) ? (type as readonly Json[]).filter((t): t is string => typeof t === 'string') : []
}

function asObject(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined
}

/** Follows `$ref`s inside the root schema. */
function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let current = schema
  for (let hops = 0; hops < DEPTH_MAX; hops++) {
    const ref = current['$ref']
    if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref)) return current
    let target: Json | undefined = root
    for (const escaped of ref.split('/').slice(1)) {
      const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const holder: JsonObject | undefined = asObject(target)
      target = holder && Object.hasOwn(holder, part) ? holder[part] : undefined
    }
    const next = asObject(target)
    if (!next) return current
    current = next
  }
  return current
}

/** What the string means if a type of `types` wants it and it parses to exactly that; `undefined` otherwise. */
function fromString(text: string, types: readonly string[]): Json | undefined {
  if (types.includes('string')) return undefined
  if ((types.includes('number') || types.includes('integer')) && numberPattern.test(text)) {
    const number = Number(text)
    if (isExact(number) && (types.includes('number') || Number.isInteger(number))) return number
  }
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
  try {
    const { value, replaced } = losslessCopy(JSON.parse(text))
    const isWanted = Array.isArray(value) ? types.includes('array') : isObject(value) && types.includes('object')
    return isWanted && replaced === 0 ? value : undefined
  } catch {
    return undefined
  }
}

/** Whole numbers beyond the safe ones may be another number than the text says. */
function isExact(number: number): boolean {
  return (
    Number.isFinite(number) && !Object.is(number, -0) && (!Number.isInteger(number) || Number.isSafeInteger(number))
  )
}

class Fitting {
  readonly repairs: string[] = []
  readonly root: JsonObject
  constructor(root: JsonObject) {
    this.root = root
  }

  value(given: JsonObject, value: Json, path: string, depth: number): Json {
    if (depth > DEPTH_MAX) return value
    const schema = resolve(given, this.root)
    if (typeof value === 'string') {
      const meant = fromString(value, typesOf(schema))
      if (meant === undefined) return value
      this.repairs.push(`${path}: took ${Array.isArray(meant) ? 'array' : typeof meant} from a string`)
      return this.value(schema, meant, path, depth + 1)
    }
    if (Array.isArray(value)) {
      const items = asObject(schema['items'])
      const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0
      return items
        ? (value as readonly Json[]).map((item, i) =>
            i < first ? item : this.value(items, item, `${path}[${i}]`, depth + 1),
          )
        : value
    }
    const object = asObject(value)
    return object ? this.object(schema, object, path, depth) : value
  }

  private object(schema: JsonObject, value: JsonObject, path: string, depth: number): Json {
    const properties = asObject(schema['properties'])
    if (!properties) return value
    const required = Array.isArray(schema['required']) ? (schema['required'] as readonly Json[]) : []
    const entries: [string, Json][] = []
    for (const [key, item] of Object.entries(value)) {
      const wanted = Object.hasOwn(properties, key) ? asObject(properties[key]) : undefined
      if (!wanted) entries.push([key, item])
      else if (item === null && !required.includes(key) && !acceptsNull(resolve(wanted, this.root)))
        this.repairs.push(`${path}.${key}: left out a null`)
      else entries.push([key, this.value(wanted, item, `${path}.${key}`, depth + 1)])
    }
    return Object.fromEntries(entries)
  }
}

function acceptsNull(schema: JsonObject): boolean {
  const types = typesOf(schema)
  return types.length === 0 || types.includes('null')
}

/** `value` with everything repaired that `schema` calls for. What cannot be repaired stays as it is. `around`: levels that
 *  will enclose the value and count with it.
 *  @throws what {@link losslessCopy} throws */
export function fit(schema: JsonObject, value: JsonObject, around = 0): Fitted {
  const fitting = new Fitting(schema)
  const fitted = fitting.value(schema, value, '$', 0)
  return { value: losslessCopy(fitted, around).value, repairs: fitting.repairs }
}
