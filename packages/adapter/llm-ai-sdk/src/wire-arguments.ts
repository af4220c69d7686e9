/** Owns how the arguments and the name of a past tool call go out again. */
import type { JsonObject } from '@sluice/base'
import { wellFormed } from './well-formed.ts'

/** The text as the model wrote it where endpoints take it as it is; otherwise a clean value; `{}` when it is no object. */
export function wireArguments(argumentsText: string): string | JsonObject {
  try {
    const value: unknown = JSON.parse(argumentsText)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
    // Escapes may hide half a character; names such as __proto__ make the provider library quote the text twice.
    return /\\u|__proto__|constructor/.test(argumentsText) ? (wellFormed(value) as JsonObject) : argumentsText
  } catch {
    return {}
  }
}

/** Characters of a tool name that endpoints take. */
const NAME_MAX = 64

/** A name that a model made up may be one that endpoints refuse in the history. */
export function wireName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, NAME_MAX) || '_'
}
