/** Owns time limits: one timer for all of them, each limit with a clock that can stand still. */
import type { Clock } from '@sluice/base'

/** A clock that runs from its making, and the time after which it expires once somebody waits for that. */
export abstract class Limit {
  protected readonly ms: number
  private readonly dog: Watchdog
  /** At `since`, or where it stands still. */
  private left: number
  private since: number
  private pauses = 0
  private isWatched = false
  /** Its neighbours in the watchdog's list. */
  before: Limit | undefined
  after: Limit | undefined

  /** Its clock runs from `now`. */
  constructor(dog: Watchdog, ms: number, now = dog.now()) {
    this.dog = dog
    this.ms = this.left = ms
    this.since = now
  }

  /** It is due, and has ended. */
  protected abstract due(): void

  /** How long it has run; microseconds are as fine as it gets. */
  get spentMs(): number {
    const ms = this.ms - this.left + (this.pauses > 0 ? 0 : this.dog.now() - this.since)
    return Math.round(ms * 1000) / 1000
  }

  /** When it is due; infinite while it stands still. */
  get dueAt(): number {
    return this.pauses > 0 ? Number.POSITIVE_INFINITY : this.since + this.left
  }

  /** Calls {@link due} once when it is due, unless it is ended first. Not to be called again. */
  watch(): void {
    this.isWatched = true
    this.dog.add(this)
  }

  /** Its clock stands still from the time returned until as many {@link resume} calls followed. */
  pause(): number {
    const now = this.dog.now()
    if (this.pauses++ === 0) this.left -= now - this.since
    return now
  }

  resume(): void {
    if (--this.pauses > 0) return
    this.since = this.dog.now()
    if (this.isWatched) this.dog.arm(this)
  }

  expire(): void {
    if (!this.isWatched) return
    this.end()
    this.due()
  }

  end(): void {
    if (!this.isWatched) return
    this.isWatched = false
    this.dog.drop(this)
  }
}

class Alarm extends Limit {
  protected readonly due: () => void

  constructor(dog: Watchdog, ms: number, due: () => void) {
    super(dog, ms)
    this.due = due
  }
}

export class Watchdog {
  private readonly clock: Clock
  private first: Limit | undefined
  private last: Limit | undefined
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
    const limit = new Alarm(this, ms, expire)
    limit.watch()
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
    limit.before = this.last
    if (this.last) this.last.after = limit
    else this.first = limit
    this.last = limit
    this.arm(limit)
  }

  drop(limit: Limit): void {
    const { before, after } = limit
    if (before) before.after = after
    else this.first = after
    if (after) after.before = before
    else this.last = before
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
    if (this.first === undefined && this.held === 0) this.disarm()
  }

  private disarm(): void {
    this.cancel?.()
    this.cancel = undefined
    this.armedFor = Number.POSITIVE_INFINITY
  }

  private fire(): void {
    this.disarm()
    const now = this.now()
    const due: Limit[] = []
    for (let limit = this.first; limit; limit = limit.after) if (limit.dueAt <= now) due.push(limit)
    for (const limit of due) limit.expire()
    for (let limit = this.first; limit; limit = limit.after) this.arm(limit)
  }
}

const dogs = new WeakMap<Clock, Watchdog>()

/** The one watchdog of a clock: whoever holds its timer spares all others from setting one. */
export function watchdogOf(clock: Clock): Watchdog {
  let dog = dogs.get(clock)
  if (!dog) dogs.set(clock, (dog = new Watchdog(clock)))
  return dog
}
