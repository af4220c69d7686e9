/** Owns time limits: one timer for all of them, each limit with a clock that can stand still. */
import type { Clock } from '@sluice/base'

/** A clock that runs from its making, and the time after which it expires once somebody waits for that. */
export class Limit {
  private readonly dog: Watchdog
  private readonly ms: number
  /** At `since`, or where it stands still. */
  private left: number
  private since: number
  private pauses = 0
  private waiting: (() => void) | undefined

  constructor(dog: Watchdog, ms: number) {
    this.dog = dog
    this.ms = this.left = ms
    this.since = dog.now()
  }

  /** How long it has run. */
  get spentMs(): number {
    return this.ms - this.left + (this.pauses > 0 ? 0 : this.dog.now() - this.since)
  }

  /** When it is due; infinite while it stands still. */
  get dueAt(): number {
    return this.pauses > 0 ? Number.POSITIVE_INFINITY : this.since + this.left
  }

  /** Calls `expire` once when it is due, unless it is ended first. */
  watch(expire: () => void): void {
    this.waiting = expire
    this.dog.add(this)
  }

  /** Its clock stands still until as many {@link resume} calls followed. */
  pause(): void {
    if (this.pauses++ === 0) this.left -= this.dog.now() - this.since
  }

  resume(): void {
    if (--this.pauses > 0) return
    this.since = this.dog.now()
    if (this.waiting) this.dog.arm(this)
  }

  expire(): void {
    const { waiting } = this
    this.end()
    waiting?.()
  }

  end(): void {
    this.waiting = undefined
    this.dog.drop(this)
  }
}

export class Watchdog {
  private readonly clock: Clock
  private readonly limits = new Set<Limit>()
  private cancel: (() => void) | undefined
  private armedFor = Number.POSITIVE_INFINITY
  private held = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  now(): number {
    return this.clock.monotonic()
  }

  /** Calls `expire` once, `ms` of unpaused time from now, unless the limit is ended first. */
  limit(ms: number, expire: () => void): Limit {
    const limit = new Limit(this, ms)
    limit.watch(expire)
    return limit
  }

  /** Until as many {@link release} calls followed, its timer may outlast the limits: others are about to come. */
  hold(): void {
    this.held++
  }

  release(): void {
    this.held--
    this.rest()
  }

  add(limit: Limit): void {
    this.limits.add(limit)
    this.arm(limit)
  }

  drop(limit: Limit): void {
    this.limits.delete(limit)
    this.rest()
  }

  /** A timer that is set too early for what is left looks again when it fires. */
  arm({ dueAt }: Limit): void {
    if (dueAt >= this.armedFor) return
    this.disarm()
    this.armedFor = dueAt
    this.cancel = this.clock.timer(Math.max(0, dueAt - this.now()), () => this.fire())
  }

  private rest(): void {
    if (this.limits.size === 0 && this.held === 0) this.disarm()
  }

  private disarm(): void {
    this.cancel?.()
    this.cancel = undefined
    this.armedFor = Number.POSITIVE_INFINITY
  }

  private fire(): void {
    this.disarm()
    const now = this.now()
    for (const limit of Array.from(this.limits)) if (limit.dueAt <= now) limit.expire()
    for (const limit of this.limits) this.arm(limit)
  }
}
