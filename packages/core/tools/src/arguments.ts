/** Owns the way from argument text to frozen, validated arguments. */
import { isSluiceError, type Json, type JsonObject, messageOf, parseJson, type SchemaProblem } from '@sluice/base'
import type { Registered } from './definition.ts'
import { payload } from './payload.ts'
import { fit } from './repair.ts'

export type Parsed =
  | { readonly ok: true; readonly args: JsonObject; readonly repairs: readonly string[] }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[]; readonly quoted: string | undefined }

/** How many characters of argument text a result quotes. */
const QUOTED_MAX = 500

export function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function refuse(path: string, problem: string, text: string | undefined): Parsed {
  return { ok: false, problems: [{ path, problem }], quoted: text?.slice(0, QUOTED_MAX).toWellFormed() }
}

/** Arguments as the model wrote them, parsed, copied losslessly, repaired where the definition allows, and validated. */
export function parseArguments(given: string | Json, entry: Registered): Parsed {
  const text = typeof given === 'string' ? given : undefined
  const repairs: string[] = []
  let value: unknown = given
  try {
    if (text !== undefined) value = text.trim() === '' ? {} : parseJson(text)
    if (typeof value === 'string' && entry.definition.repair !== false) {
      value = parseJson(value)
      repairs.push('$: took the JSON inside a string')
    }
    const copy = payload(value)
    if (copy.replaced > 0) repairs.push(`$: replaced lone surrogates in ${copy.replaced} strings`)
    if (!isObject(copy.value)) return refuse('$', 'the arguments are not an object', text)
    return validate(copy.value, entry, repairs)
  } catch (error) {
    if (isSluiceError(error, 'JSON_NOT_LOSSLESS')) {
      const { path, problem } = error.data as { path: string; problem: string }
      return refuse(path, problem, text)
    }
    return refuse('$', messageOf(error), text)
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
