/** Owns the parameter schema that strict endpoints take: an object at the root without alternatives, refs that resolve. */
import type { JsonObject } from '@sluice/base'
import { groupOf, oneOfGroups } from './prompt.ts'
import { settleRefs, target } from './schema-refs.ts'

export interface StrictSchema {
  readonly parameters: JsonObject
  /** What could not be kept, in words for a person. */
  readonly notes: readonly string[]
}

/** How deep alternatives at the root may nest. */
const ROOT_DEPTH_MAX = 16

const known = new WeakMap<JsonObject, StrictSchema>()

/** The original stays what arguments are checked against; this one only goes on the wire. */
export function strictSchema(schema: JsonObject): StrictSchema {
  const before = known.get(schema)
  if (before) return before
  const strict = settleRefs(needsFolding(schema) ? foldedRoot(schema) : schema, schema)
  known.set(schema, strict)
  return strict
}

const combinators = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'enum', 'const', '$ref', '$dynamicRef']

function needsFolding(schema: JsonObject): boolean {
  return (
    schema.type !== 'object' || !isSchema(schema.properties) || combinators.some((key) => Object.hasOwn(schema, key))
  )
}

/** The fields that a root and its alternatives speak of. */
interface Fields {
  readonly properties: Map<string, JsonObject['']>
  readonly required: ReadonlySet<string>
  readonly closed: boolean
  readonly groups: readonly string[]
}

function foldedRoot(schema: JsonObject): JsonObject {
  const fields = fieldsOf(schema, schema, 0)
  const rest = Object.entries(schema).filter(([key]) => !combinators.includes(key) && key !== 'additionalProperties')
  const described = [schema.description, fields.groups.length > 0 && oneOfGroups(fields.groups)]
  const description = described.filter((text) => typeof text === 'string').join(' ')
  const required = [...fields.required].sort()
  const open = schema.additionalProperties
  return Object.fromEntries([
    ...rest,
    ['type', 'object'],
    ['properties', Object.fromEntries(fields.properties)],
    ...(description ? [['description', description]] : []),
    ...(required.length > 0 || Object.hasOwn(schema, 'required') ? [['required', required]] : []),
    ...(fields.closed ? [['additionalProperties', false]] : isSchema(open) ? [['additionalProperties', open]] : []),
  ]) as JsonObject
}

function fieldsOf(schema: JsonObject, root: JsonObject, depth: number): Fields {
  let fields = ownFields(schema)
  if (depth >= ROOT_DEPTH_MAX) return fields
  const parts = [
    ...(typeof schema.$ref === 'string' ? [target(root, schema.$ref)] : []),
    ...(Array.isArray(schema.allOf) ? schema.allOf : []),
  ].filter(isSchema)
  for (const part of parts) fields = both(fields, fieldsOf(part, root, depth + 1))
  for (const key of ['anyOf', 'oneOf'] as const) {
    const choices = Array.isArray(schema[key]) ? schema[key].filter(isSchema) : []
    if (choices.length === 0) continue
    fields = both(fields, eitherOf(choices.map((choice) => fieldsOf(choice, root, depth + 1))))
  }
  return fields
}

function ownFields(schema: JsonObject): Fields {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : []
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []
  return {
    properties: new Map(properties),
    required: new Set(required),
    closed: schema.additionalProperties === false,
    groups: [],
  }
}

/** Both hold: every field of either, all that either requires. */
function both(a: Fields, b: Fields): Fields {
  return {
    properties: united(a, b, 'allOf'),
    required: new Set([...a.required, ...b.required]),
    closed: a.closed || b.closed,
    groups: [...a.groups, ...b.groups],
  }
}

/** One holds: every field of any, only what all require; the rest is said in words. */
function eitherOf(choices: readonly Fields[]): Fields {
  const [first, ...others] = choices as [Fields, ...Fields[]]
  const merged = others.reduce<Fields>(
    (a, b) => ({
      properties: united(a, b, 'anyOf'),
      required: new Set([...a.required].filter((name) => b.required.has(name))),
      closed: a.closed && b.closed,
      groups: [],
    }),
    first,
  )
  const groups = choices.map((choice) =>
    groupOf(choice.required.size > 0 ? [...choice.required] : [...choice.properties.keys()]),
  )
  return { ...merged, groups: choices.length > 1 && new Set(groups).size > 1 ? groups : merged.groups }
}

function united(a: Fields, b: Fields, how: 'allOf' | 'anyOf'): Fields['properties'] {
  const all = new Map(a.properties)
  for (const [name, schema] of b.properties) {
    const mine = all.get(name)
    const same = mine === undefined || JSON.stringify(mine) === JSON.stringify(schema)
    all.set(name, same ? schema : { [how]: [mine, schema] })
  }
  return all
}

function isSchema(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
