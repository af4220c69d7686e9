/** Owns assertions: mistakes of the programmer, without a code, never caught. */

export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/** Ends a closed union: reached only when a case is missing. */
export function assertNever(value: never): never {
  throw new AssertionError(`unexpected case: ${JSON.stringify(value)}`)
}
