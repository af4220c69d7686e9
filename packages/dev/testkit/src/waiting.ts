/** Owns waiting without time: deferred promises, and turns of the event loop. */

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T | PromiseLike<T>): void
  reject(reason: unknown): void
}

/** A promise that the test settles. */
export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T | PromiseLike<T>) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  return { promise, resolve, reject }
}

/** One turn of the event loop: every promise reaction that is ready now has run afterwards. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** A few turns: chains of simulated input and output that are under way have settled, real ones need not have. */
export async function flushMicrotasks(turns = 3): Promise<void> {
  for (let i = 0; i < turns; i++) await turn()
}
