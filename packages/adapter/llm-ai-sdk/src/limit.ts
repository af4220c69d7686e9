/** Owns waiting for something with a limit on the World's clock. */
import type { Clock } from '@sluice/base'

/** The value of `promise`, or `expired()` (which may throw) when it takes longer than `ms`. A late failure is contained. */
export function withLimit<T>(clock: Clock, ms: number, promise: Promise<T>, expired: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.timer(ms, () => {
      try {
        resolve(expired())
      } catch (error) {
        reject(error as Error)
      }
    })
    promise.then(resolve, reject).finally(cancel)
  })
}
