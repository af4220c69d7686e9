/** Owns the references inside a parameter schema: each one resolves inside the schema that goes out, or is left open. */
import type { Json, JsonObject } from '@sluice/base'

/** Keywords whose value is a map from names to schemas. */
const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords whose value is data, whatever it looks like. */
const data = new Set(['const', 'enum', 'default', 'examples', 'required', 'description', 'title'])

/** What a local reference (`#`, `#/a/b`, `#anchor`) points at. */
export function target(root: JsonObject, ref: string): Json | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return ref.startsWith('#') ? anchored(root, decoded(ref.slice(1))) : undefined
  let place: Json | undefined = root
  for (const part of decoded(ref.slice(2)).split('/')) {
    if (typeof place !== 'object' || place === null) return undefined
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    place = Object.hasOwn(place, key) ? (place as JsonObject)[key] : undefined
  }
  return place
}

/** `schema` with every reference resolving inside it: places that only `original` has are copied to `$defs`; what is
 *  nowhere, or elsewhere on the network, is left open and noted. The same object when nothing had to change. */
export function settleRefs(schema: JsonObject, original: JsonObject): { parameters: JsonObject; notes: string[] } {
  const notes: string[] = []
  const copied = new Map<string, string>()
  const waiting: string[] = []
  const settle = (ref: string): string | undefined => {
    if (target(schema, ref) !== undefined) return ref
    if (target(original, ref) === undefined) {
      notes.push(`the reference ${ref} leads nowhere inside the schema; anything is accepted there`)
      return undefined
    }
    const name = copied.get(ref) ?? freeName(schema, copied)
    if (!copied.has(ref)) waiting.push(ref)
    copied.set(ref, name)
    return `#/$defs/${name}`
  }
  const walked = walkSchema(schema, settle) as JsonObject
  if (waiting.length === 0) return { parameters: walked, notes }
  const defs: [string, Json][] = isObject(walked.$defs) ? Object.entries(walked.$defs) : []
  for (let ref = waiting.shift(); ref !== undefined; ref = waiting.shift()) {
    defs.push([copied.get(ref) as string, walkSchema(target(original, ref) as Json, settle)])
  }
  return { parameters: { ...walked, $defs: Object.fromEntries(defs) }, notes }
}

function walkSchema(schema: Json, settle: (ref: string) => string | undefined): Json {
  if (Array.isArray(schema)) return mapped(schema as readonly Json[], (item) => walkSchema(item, settle))
  if (!isObject(schema)) return schema
  const settled = typeof schema.$ref === 'string' ? settle(schema.$ref) : undefined
  if (typeof schema.$ref === 'string' && settled === undefined) {
    const { $ref: _, ...rest } = schema
    return walkSchema(rest, settle)
  }
  const entries = Object.entries(schema)
  const walked = entries.map(([key, value]): [string, Json] => {
    if (key === '$ref') return [key, settled as string]
    if (data.has(key)) return [key, value]
    if (maps.has(key) && isObject(value)) return [key, mapValues(value, (item) => walkSchema(item, settle))]
    return [key, walkSchema(value, settle)]
  })
  return walked.every(([, value], index) => value === entries[index]?.[1]) ? schema : Object.fromEntries(walked)
}

function mapped(list: readonly Json[], change: (item: Json) => Json): readonly Json[] {
  const changed = list.map(change)
  return changed.every((item, index) => item === list[index]) ? list : changed
}

function mapValues(object: JsonObject, change: (item: Json) => Json): JsonObject {
  const entries = Object.entries(object)
  const changed = entries.map(([key, item]): [string, Json] => [key, change(item)])
  return changed.every(([, item], index) => item === entries[index]?.[1]) ? object : Object.fromEntries(changed)
}

function freeName(schema: JsonObject, copied: ReadonlyMap<string, string>): string {
  const taken = isObject(schema.$defs) ? schema.$defs : {}
  let number = copied.size + 1
  while (Object.hasOwn(taken, `copied${number}`)) number++
  return `copied${number}`
}

function anchored(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isObject(value) && (value.$anchor === name || value.$dynamicAnchor === name)) return value
  for (const item of Object.values(value)) {
    const found = anchored(item as Json, name)
    if (found !== undefined) return found
  }
  return undefined
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
