/** Owns the way from argument text to frozen, validated arguments. */
import {
  isSluiceError,
  type Json,
  type JsonObject,
  type LosslessCopy,
  messageOf,
  parseJson,
  type SchemaProblem,
} from '@sluice/base'
import type { Registered } from './definition.ts'
import { payload } from './payload.ts'
import { fit } from './repair.ts'

/** Arguments as they came, read once: a copy, or why there is none. */
export type Given = {
  /** For the log. */
  readonly text: string
  /** What a result quotes of text that the model wrote. */
  readonly quoted: string | undefined
} & ({ readonly copy: LosslessCopy } | { readonly problem: SchemaProblem })

export type Parsed =
  | { readonly ok: true; readonly args: JsonObject; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[]; readonly quoted: string | undefined }

/** How many characters of argument text a result quotes. */
const QUOTED_MAX = 500

export function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Reads argument text, or a JSON value, once. */
export function readArguments(given: unknown): Given {
  if (typeof given === 'string') {
    const quoted = given.slice(0, QUOTED_MAX).toWellFormed()
    return { text: given, quoted, ...copied(() => (given.trim() === '' ? {} : parseJson(given))) }
  }
  const result = copied(() => given)
  const text = 'copy' in result ? JSON.stringify(result.copy.value) : `(no JSON at ${result.problem.path})`
  return { text, quoted: undefined, ...result }
}

function copied(value: () => unknown): { readonly copy: LosslessCopy } | { readonly problem: SchemaProblem } {
  try {
    return { copy: payload(value()) }
  } catch (error) {
    if (!isSluiceError(error, 'JSON_NOT_LOSSLESS')) return { problem: { path: '$', problem: messageOf(error) } }
    const { path, problem } = error.data as SchemaProblem
    return { problem: { path, problem } }
  }
}

/** Arguments repaired where the definition allows, and validated. */
export function admitArguments(given: Given, entry: Registered): Parsed {
  const { quoted } = given
  const refuse = (problem: SchemaProblem): Parsed => ({ ok: false, problems: [problem], quoted })
  let result: { readonly copy: LosslessCopy } | { readonly problem: SchemaProblem } = given
  const repairs: string[] = []
  if ('copy' in result && typeof result.copy.value === 'string' && entry.definition.repair !== false) {
    const inner = result.copy.value
    result = copied(() => parseJson(inner))
    repairs.push('$: took the JSON inside a string')
  }
  if ('problem' in result) return refuse(result.problem)
  const { value, replaced } = result.copy
  if (replaced > 0) repairs.push(`$: replaced lone surrogates in ${replaced} strings`)
  if (!isObject(value)) return refuse({ path: '$', problem: 'the arguments are not an object' })
  try {
    return validate(value, entry, repairs)
  } catch (error) {
    return refuse({ path: '$', problem: messageOf(error) })
  }
}

function validate(args: JsonObject, entry: Registered, repairs: string[]): Parsed {
  if (entry.parameters.test(args)) return { ok: true, args, repairs }
  const problems = entry.parameters.problems(args)
  if (entry.definition.repair !== false) {
    const repaired = fit(entry.info.parameters, args)
    if (repaired.repairs.length > 0 && entry.parameters.test(repaired.value))
      return { ok: true, args: repaired.value as JsonObject, repairs: [...repairs, ...repaired.repairs] }
  }
  return { ok: false, problems, quoted: undefined }
}
