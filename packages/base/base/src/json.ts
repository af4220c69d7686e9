/** Owns lossless JSON: one pass that checks, copies and freezes a value, and refuses what JSON would drop or change. */
import { defineErrors, messageOf } from './errors.ts'
import { jsonProblem } from './json-problem.ts'
import { Onto } from './onto.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

export const jsonErrors = defineErrors({
  JSON_NOT_LOSSLESS: {
    when: 'a value holds something that JSON would drop, change or refuse',
    message: (d: { path: string; problem: string }) => `${d.path}: ${d.problem}`,
    remedy: 'Give plain objects, arrays, strings, finite numbers, booleans and null only.',
  },
  JSON_UNPARSABLE: {
    when: 'a text is not JSON',
    message: (d: { position: number; problem: string }) => `not JSON at position ${d.position}: ${d.problem}`,
    remedy: 'Send one complete JSON value.',
  },
})

/** How deep a value may nest; deeper ones (cycles too) are refused. Bounded by the call stack of `JSON.stringify`. */
export const JSON_DEPTH_MAX = 1000

/** How many values a value may hold in all, one that is referred to twice counted twice: so much would its text hold. */
export const JSON_NODES_MAX = 1_000_000

const objectPrototype = Object.prototype
const arrayPrototype = Array.prototype

/** Marks every root that this module has made: lossless and deeply frozen, it needs no second walk. Its height and its number
 *  of values in one number, as many a value is made. A private field, because a WeakMap costs ten times as much. */
class Mark extends Onto {
  readonly #size: number

  constructor(on: object, size: number) {
    super(on)
    this.#size = size
  }

  static of(value: object): number | undefined {
    return #size in value ? value.#size : undefined
  }
}
const HEIGHTS = 1024

class Walk {
  replaced = 0
  /** Depth of the first array or object. */
  root: number | undefined
  deepest = 0
  nodes = 0
  /** Set while unwinding from a refusal: the keys from the place outwards. */
  readonly keys: (string | number)[] = []
}

class Refusal {
  readonly problem: string
  constructor(problem: string) {
    this.problem = problem
  }
}

function text(value: string, walk: Walk): string {
  if (value.isWellFormed()) return value
  walk.replaced++
  return value.toWellFormed()
}

/** A value with `nodes` more in it. */
function count(nodes: number, walk: Walk): void {
  walk.nodes += nodes
  if (walk.nodes > JSON_NODES_MAX) throw new Refusal(`more than ${JSON_NODES_MAX} values`)
}

/** Marked before it is frozen: an engine may refuse to add a field to what is frozen. */
function sealed<T extends object>(copy: T, depth: number, walk: Walk): T {
  if (depth === walk.root) new Mark(copy, walk.nodes * HEIGHTS + walk.deepest - depth)
  return Object.freeze(copy)
}

function copyArray(value: readonly unknown[], depth: number, walk: Walk): readonly Json[] {
  walk.root ??= depth
  const length = value.length
  count(length, walk)
  const copy: Json[] = new Array<Json>(length)
  for (let i = 0; i < length; i++) {
    try {
      const item = value[i]
      if (item === undefined && !(i in value)) throw new Refusal('a hole in an array')
      copy[i] = walkValue(item, depth + 1, walk)
    } catch (error) {
      walk.keys.push(i)
      throw error
    }
  }
  if (Reflect.ownKeys(value).length !== length + 1) throw new Refusal('an array with extra or hidden keys')
  return sealed(copy, depth, walk)
}

function copyObject(value: object, depth: number, walk: Walk): JsonObject {
  walk.root ??= depth
  const keys = Object.keys(value)
  // Asked apart, names and symbols take a third of the time of `Reflect.ownKeys`.
  if (Object.getOwnPropertyNames(value).length !== keys.length || Object.getOwnPropertySymbols(value).length > 0)
    throw new Refusal('hidden or symbol keys')
  count(keys.length, walk)
  const copy: Record<string, Json> = {}
  let renamed = false
  for (const key of keys) {
    try {
      const item = walkValue((value as Record<string, unknown>)[key], depth + 1, walk)
      const name = text(key, walk)
      if (name !== key) renamed = true
      if (name === '__proto__') {
        Object.defineProperty(copy, name, { value: item, enumerable: true })
      } else copy[name] = item
    } catch (error) {
      walk.keys.push(key)
      throw error
    }
  }
  if (renamed && Object.keys(copy).length < keys.length) throw new Refusal('keys that differ in lone surrogates only')
  return sealed(copy, depth, walk)
}

function walkValue(value: unknown, depth: number, walk: Walk): Json {
  switch (typeof value) {
    case 'string':
      return text(value, walk)
    case 'boolean':
      return value
    case 'number':
      if (value - value !== 0) throw new Refusal(String(value))
      if (value === 0 && 1 / value < 0) throw new Refusal('negative zero')
      return value
    case 'object':
      break
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      throw new Refusal(typeof value)
  }
  if (value === null) return null
  const known = Mark.of(value)
  const lowest = known === undefined ? depth : depth + (known % HEIGHTS)
  if (lowest >= JSON_DEPTH_MAX) throw new Refusal(`nested more than ${JSON_DEPTH_MAX} deep, or a cycle`)
  if (lowest > walk.deepest) walk.deepest = lowest
  if (known !== undefined) {
    count(Math.floor(known / HEIGHTS), walk)
    return value as Json
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === arrayPrototype && Array.isArray(value)) return copyArray(value, depth, walk)
  if (prototype === objectPrototype || prototype === null) return copyObject(value, depth, walk)
  throw new Refusal(`an instance of ${nameOf(value)}`)
}

function nameOf(value: object): string {
  try {
    return String((value as { constructor?: { name?: unknown } }).constructor?.name ?? 'an unnamed class')
  } catch {
    return 'an unnamed class'
  }
}

function pathOf(keys: readonly (string | number)[]): string {
  let path = '$'
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string | number
    if (typeof key === 'number') path += `[${key}]`
    else path += /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key.slice(0, 60))}]`
    if (path.length > 400) return `${path}…`
  }
  return path
}

export interface LosslessCopy {
  readonly value: Json
  /** How many strings or keys held lone surrogates that were replaced with U+FFFD. */
  readonly replaced: number
}

/** A deeply frozen copy of `value`, which JSON can hold without loss, and how many strings had to be made well-formed.
 *  A copy that was made here before is returned as it is. `around`: levels that will enclose the copy and count with it.
 *  @throws JSON_NOT_LOSSLESS with the path of the first offending place */
export function losslessCopy(value: unknown, around = 0): LosslessCopy {
  const walk = new Walk()
  try {
    return { value: walkValue(value, around, walk), replaced: walk.replaced }
  } catch (error) {
    const problem = error instanceof Refusal ? error.problem : `reading it threw: ${messageOf(error)}`
    throw jsonErrors('JSON_NOT_LOSSLESS', { path: pathOf(walk.keys), problem })
  }
}

/** {@link losslessCopy} without the count.
 *  @throws JSON_NOT_LOSSLESS */
export function lossless(value: unknown): Json {
  return losslessCopy(value).value
}

/** The JSON value of `source`, with the position of the problem otherwise.
 *  @throws JSON_UNPARSABLE */
export function parseJson(source: string): unknown {
  try {
    return JSON.parse(source) as unknown
  } catch (error) {
    throw jsonErrors('JSON_UNPARSABLE', jsonProblem(source) ?? { position: 0, problem: messageOf(error) })
  }
}

/** JSON text with object keys sorted at every level: equal values give equal text. Takes lossless values only. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonicalJson).join(',')}]`
  const object = value as JsonObject
  const keys = Object.keys(object).sort()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`).join(',')}}`
}
