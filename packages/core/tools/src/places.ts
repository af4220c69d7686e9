/** Owns how many bodies of one session run at once. */
import type { AbortSource } from './abort.ts'

/** Counts the bodies that run without running children. Shared by a session's calls and all their nested calls. */
export class Parallelism {
  readonly max: number
  private running = 0
  /** Bodies that go on after their nested calls; they come before calls that have not started. */
  private readonly returning = new Set<() => void>()
  private readonly queues = new Set<() => void>()

  constructor(max: number) {
    this.max = max
  }

  get free(): boolean {
    return this.running < this.max
  }

  take(): void {
    this.running++
  }

  give(): void {
    this.running--
    for (const taken of this.returning) {
      if (!this.free) return
      this.returning.delete(taken)
      this.running++
      taken()
    }
    for (const wake of Array.from(this.queues)) wake()
  }

  /** Calls `taken` when a place was taken again, unless it is given up before. */
  retake(taken: () => void): () => void {
    if (this.free) {
      this.running++
      taken()
      return () => {}
    }
    this.returning.add(taken)
    return () => this.returning.delete(taken)
  }

  onFree(wake: () => void): () => void {
    this.queues.add(wake)
    return () => this.queues.delete(wake)
  }
}

/** The place of one body. It is left while nested calls run, and regained before the body hears of the last one. */
export class Place {
  private readonly parallelism: Parallelism
  private held = true
  private ended = false
  private giveUp: (() => void) | undefined

  constructor(parallelism: Parallelism) {
    this.parallelism = parallelism
  }

  leave(): void {
    this.giveUp?.()
    if (!this.held) return
    this.held = false
    this.parallelism.give()
  }

  /** Resolves when the place is held again, or is not needed any more: nested calls run again, an abort, the end. */
  regain(source: AbortSource): Promise<void> {
    return new Promise((resolve) => {
      if (this.held || this.ended || source.aborted) return resolve()
      const over = () => {
        this.giveUp = undefined
        off()
        resolve()
      }
      const off = source.on(() => this.giveUp?.())
      const withdraw = this.parallelism.retake(() => {
        this.held = true
        over()
      })
      if (this.held) return
      this.giveUp = () => {
        withdraw()
        over()
      }
    })
  }

  end(): void {
    this.ended = true
    this.leave()
  }
}
