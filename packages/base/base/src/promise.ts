/** Owns promises that others made: they may lie about being one, settle twice, or come where none belongs. */

/** True for whatever has a `then` to call, as `await` sees it; what hides it behind a throw is none. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  try {
    return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
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
