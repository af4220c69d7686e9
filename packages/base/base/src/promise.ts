/** Owns promises that others made: they may lie about being one, settle twice, or come where none belongs. */

/** True for objects with a `then` to call; an object that hides it behind a throw is none. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  try {
    return value !== null && typeof value === 'object' && typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}

/** A true promise of what `given` comes to: it settles once, and whatever `then` throws is a rejection. */
export function adopt<T>(given: T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve) => resolve(given))
}

/** A promise where none belongs: nobody waits for it, and its rejection is no unhandled one. */
export function disown(given: unknown): void {
  if (isPromise(given)) adopt(given).catch(() => {})
}
