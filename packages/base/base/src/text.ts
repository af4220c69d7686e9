/** Owns reading a text that others made. */

/** The text, well-formed; `undefined` for anything else, the empty text included. */
export function textOf(given: unknown): string | undefined {
  return typeof given === 'string' && given !== '' ? given.toWellFormed() : undefined
}
