/** Owns the two clocks that end a program from outside: elapsed time, and time in which a worker does not answer. */

/** A longer time than this a timer takes for none. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Elapsed time; it stands still while it is paused. */
export class WallClock {
  private readonly late: () => void
  private left: number
  private since: number | undefined
  private pauses = 0
  private timer: NodeJS.Timeout | undefined

  constructor(ms: number, late: () => void) {
    this.left = ms
    this.late = late
  }

  start(): void {
    this.since = performance.now()
    if (this.pauses === 0) this.timer = setTimeout(this.late, Math.min(Math.max(0, this.left), TIMER_MS_MAX))
  }

  pause(): void {
    if (this.pauses++ > 0 || this.since === undefined) return
    clearTimeout(this.timer)
    this.left -= performance.now() - this.since
  }

  resume(): void {
    if (this.pauses === 0 || --this.pauses > 0 || this.since === undefined) return
    this.start()
  }

  end(): void {
    clearTimeout(this.timer)
    this.since = undefined
  }
}

/** Time since the oldest message that a worker has not answered. One timer serves a whole run. */
export class Watch {
  private readonly ms: number
  private readonly stuck: () => void
  private owed = 0
  private since = 0
  private timer: NodeJS.Timeout | undefined

  constructor(ms: number, stuck: () => void) {
    this.ms = Math.min(ms, TIMER_MS_MAX)
    this.stuck = stuck
  }

  sent(): void {
    if (this.owed++ === 0) this.since = performance.now()
    this.timer ??= setTimeout(this.look, this.ms)
  }

  answered(): void {
    this.owed--
    this.since = performance.now()
  }

  end(): void {
    clearTimeout(this.timer)
    this.owed = 0
  }

  private readonly look = () => {
    const left = this.owed === 0 ? this.ms : this.since + this.ms - performance.now()
    if (left <= 0) this.stuck()
    else this.timer = setTimeout(this.look, left)
  }
}
