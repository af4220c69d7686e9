/** Owns the simulated clock: time stands still until a test advances it, or until nothing else can happen. */
import type { Clock } from '@sluice/base'
import { turn } from './waiting.ts'

/** How many timers one run may fire before the clock calls it endless. */
export const FIRES_MAX = 100_000
/** How many quiet turns of the event loop count as "nothing else can happen". */
export const QUIET_TURNS = 4

const DELAY_MAX = 2 ** 31 - 1

interface Timer {
  readonly at: number
  readonly order: number
  readonly fire: () => void
}

export interface SimClock extends Clock {
  /** Timers that are set and have not fired. A test ends with 0. */
  readonly pending: number
  /** Moves time on by `ms` and fires what falls due, in order, with turns of the event loop between. */
  advance(ms: number): Promise<void>
  /** Fires timers until none is set. Throws after {@link FIRES_MAX}. */
  runUntilIdle(): Promise<void>
  /** Counts anything that happens in the simulated world; quiet turns are turns in which it stands still. */
  stir(): void
}

export interface SimClockOptions {
  /** Milliseconds since the epoch. */
  readonly startAt: number
  /** Fire the next timer whenever {@link QUIET_TURNS} turns pass in which nothing happens in the simulated world. */
  readonly autoAdvance: boolean
}

export function simClock(options: SimClockOptions): SimClock {
  let elapsed = 0
  let order = 0
  let activity = 0
  let watching = false
  let fires = 0
  const timers = new Set<Timer>()

  const next = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (!first || timer.at < first.at || (timer.at === first.at && timer.order < first.order)) first = timer
    }
    return first
  }
  const fire = (timer: Timer): void => {
    if (++fires > FIRES_MAX)
      throw new Error(`the simulated clock fired ${FIRES_MAX} timers: something re-arms for ever`)
    timers.delete(timer)
    elapsed = Math.max(elapsed, timer.at)
    timer.fire()
  }

  const watch = async (): Promise<void> => {
    if (watching) return
    watching = true
    try {
      while (timers.size > 0) {
        const before = activity
        let quiet = true
        for (let i = 0; i < QUIET_TURNS && quiet; i++) {
          await turn()
          quiet = activity === before
        }
        const timer = quiet ? next() : undefined
        if (timer) fire(timer)
      }
    } finally {
      watching = false
    }
  }

  return {
    now: () => options.startAt + elapsed,
    monotonic: () => elapsed,
    timer(ms, onFire) {
      const delay = Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, 0), DELAY_MAX)
      const timer: Timer = { at: elapsed + delay, order: order++, fire: onFire }
      timers.add(timer)
      activity++
      // A throw of a timer body is left unhandled, as it would be with the real clock.
      if (options.autoAdvance) void watch()
      return () => void timers.delete(timer)
    },
    get pending() {
      return timers.size
    },
    async advance(ms) {
      const until = elapsed + ms
      await turn()
      for (let timer = next(); timer && timer.at <= until; timer = next()) {
        fire(timer)
        await turn()
      }
      elapsed = Math.max(elapsed, until)
      await turn()
    },
    async runUntilIdle() {
      await turn()
      for (let timer = next(); timer; timer = next()) {
        fire(timer)
        await turn()
      }
    },
    stir: () => void activity++,
  }
}
