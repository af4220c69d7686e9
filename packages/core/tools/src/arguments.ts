/** Owns the way from argument text to frozen, validated arguments. */
import {
  fit,
  isObject,
  isSluiceError,
  type JsonObject,
  type LosslessCopy,
  losslessCopy,
  messageOf,
  parseJson,
  type SchemaProblem,
} from '@sluice/base'
import type { Registered } from './definition.ts'
import { notAnObject } from './prompt.ts'

/** Levels that an event may have around arguments or a value: they nest less deep than JSON in general. */
const ENVELOPE_LEVELS = 8

type Copied = { readonly copy: LosslessCopy } | { readonly problem: SchemaProblem }

/** Arguments as they came, read once: a copy, or why there is none. */
export type Given = Copied & {
  /** For the log. */
  readonly text: string
}

export type Parsed =
  | { readonly args: JsonObject; readonly repairs: readonly string[] }
  | { readonly problems: readonly SchemaProblem[] }

/** {@link losslessCopy} of arguments or a value.
 *  @throws JSON_NOT_LOSSLESS */
export function payload(value: unknown): LosslessCopy {
  return losslessCopy(value, ENVELOPE_LEVELS)
}

/** Reads argument text, or a JSON value, once. */
export function readArguments(given: unknown): Given {
  if (typeof given === 'string') return { text: given, ...copied(() => (given.trim() === '' ? {} : parseJson(given))) }
  const result = copied(() => given)
  const text = 'copy' in result ? JSON.stringify(result.copy.value) : `(no JSON at ${result.problem.path})`
  return { text, ...result }
}

function copied(value: () => unknown): Copied {
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
  const mayRepair = entry.definition.repair !== false
  const repairs: string[] = []
  let result: Copied = given
  if ('copy' in result && typeof result.copy.value === 'string' && mayRepair) {
    const inner = result.copy.value
    result = copied(() => parseJson(inner))
    repairs.push('$: took the JSON inside a string')
  }
  if ('problem' in result) return { problems: [result.problem] }
  const { value: args, replaced } = result.copy
  if (replaced > 0) repairs.push(`$: replaced lone surrogates in ${replaced} strings`)
  if (!isObject(args)) return { problems: [{ path: '$', problem: notAnObject }] }
  try {
    if (entry.parameters.test(args)) return { args, repairs }
    const problems = entry.parameters.problems(args)
    const fitted = mayRepair ? fit(entry.info.parameters, args, ENVELOPE_LEVELS) : undefined
    if (!fitted || fitted.repairs.length === 0 || !entry.parameters.test(fitted.value)) return { problems }
    return { args: fitted.value as JsonObject, repairs: [...repairs, ...fitted.repairs] }
  } catch (error) {
    return { problems: [{ path: '$', problem: messageOf(error) }] }
  }
}
