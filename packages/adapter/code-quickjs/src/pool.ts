/** Owns the threads: a few are kept for the next run, one that was interrupted is thrown away. */
import { Thread } from './thread.ts'

export class Pool {
  private readonly idle: Thread[] = []
  private readonly waiting: ((thread: Thread) => void)[] = []
  private readonly all = new Set<Thread>()
  private readonly keepMax: number
  private readonly threadsMax: number
  private closed = false

  constructor(keepMax: number, threadsMax: number) {
    this.keepMax = keepMax
    this.threadsMax = threadsMax
  }

  /** A ready thread; waits when as many as may run are running. */
  async take(): Promise<Thread> {
    for (let thread = this.idle.pop(); thread; thread = this.idle.pop()) if (thread.alive) return thread
    if (this.all.size >= this.threadsMax) return new Promise((resolve) => this.waiting.push(resolve))
    const thread = new Thread()
    this.all.add(thread)
    try {
      await thread.ready
      return thread
    } catch (error) {
      this.all.delete(thread)
      throw error
    }
  }

  /** Gives a thread back after a run; one that cannot be used again is ended. */
  give(thread: Thread, reusable: boolean): void {
    thread.listener = undefined
    if (!reusable || !thread.alive || this.closed || (this.waiting.length === 0 && this.idle.length >= this.keepMax)) {
      this.all.delete(thread)
      void thread.end()
      if (!this.closed && this.waiting.length > 0) void this.refill()
      return
    }
    const next = this.waiting.shift()
    if (next) next(thread)
    else this.idle.push(thread)
  }

  private async refill(): Promise<void> {
    const next = this.waiting.shift()
    if (next) next(await this.take())
  }

  async close(): Promise<void> {
    this.closed = true
    await Promise.all([...this.all].map((thread) => thread.end()))
    this.all.clear()
  }
}
