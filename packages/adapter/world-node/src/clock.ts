/** Owns the real clock. */
import type { Clock } from '@sluice/base'

/** The longest delay that a timer of Node holds; a longer one would fire at once. */
const DELAY_MAX = 2 ** 31 - 1

export function nodeClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    timer(ms, fire) {
      const handle = setTimeout(fire, Math.min(ms, DELAY_MAX))
      return () => clearTimeout(handle)
    },
  }
}
