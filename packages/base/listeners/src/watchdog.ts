/** Owns time limits: one timer for all of them, each limit with a clock that can stand still. */
import type { Clock } from '@sluice/base'

export interface Limit {
  /** The limit's clock stands still until as many {@link resume} calls followed. */
  pause(): void
  resume(): void
  end(): void
}

class WatchedLimit implements Limit {
  private readonly dog: Watchdog
  readonly expire: () => void
  private left: number
  private since: number
  private pauses = 0

  constructor(dog: Watchdog, ms: number, now: number, expire: () => void) {
    this.dog = dog
    this.left = ms
    this.since = now
    this.expire = expire
  }

  /** When it is due; infinite while it stands still. */
  get dueAt(): number {
    return this.pauses > 0 ? Number.POSITIVE_INFINITY : this.since + this.left
  }

  pause(): void {
    if (this.pauses++ === 0) this.left -= this.dog.now() - this.since
  }

  resume(): void {
    if (--this.pauses > 0) return
    this.since = this.dog.now()
    this.dog.arm()
  }

  end(): void {
    this.dog.drop(this)
  }
}

export class Watchdog {
  private readonly clock: Clock
  private readonly limits = new Set<WatchedLimit>()
  private cancel: (() => void) | undefined
  private armedFor = Number.POSITIVE_INFINITY

  constructor(clock: Clock) {
    this.clock = clock
  }

  now(): number {
    return this.clock.monotonic()
  }

  /** Calls `expire` once, `ms` of unpaused time from now, unless the limit is ended first. */
  limit(ms: number, expire: () => void): Limit {
    const limit = new WatchedLimit(this, ms, this.now(), expire)
    this.limits.add(limit)
    this.arm()
    return limit
  }

  drop(limit: WatchedLimit): void {
    this.limits.delete(limit)
    if (this.limits.size === 0) this.disarm()
  }

  arm(): void {
    let due = Number.POSITIVE_INFINITY
    for (const limit of this.limits) if (limit.dueAt < due) due = limit.dueAt
    if (due >= this.armedFor) return
    this.disarm()
    this.armedFor = due
    this.cancel = this.clock.timer(Math.max(0, due - this.now()), () => this.fire())
  }

  private disarm(): void {
    this.cancel?.()
    this.cancel = undefined
    this.armedFor = Number.POSITIVE_INFINITY
  }

  private fire(): void {
    this.cancel = undefined
    this.armedFor = Number.POSITIVE_INFINITY
    const now = this.now()
    for (const limit of Array.from(this.limits))
      if (limit.dueAt <= now) {
        this.limits.delete(limit)
        limit.expire()
      }
    this.arm()
  }
}
