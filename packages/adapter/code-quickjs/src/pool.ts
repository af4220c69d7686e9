/** Owns the threads: a few are kept for the next run, one that was interrupted is thrown away. */
import { Thread } from './thread.ts'

interface Waiter {
  readonly resolve: (thread: Thread | Promise<Thread>) => void
  readonly reject: (error: Error) => void
}

export class Pool {
  private readonly idle: Thread[] = []
  private readonly waiting: Waiter[] = []
  private readonly all = new Set<Thread>()
  private readonly keepMax: number
  private readonly threadsMax: number
  private closed = false

  constructor(keepMax: number, threadsMax: number) {
    this.keepMax = keepMax
    this.threadsMax = threadsMax
  }

  /** A ready thread; waits when as many as may run are running. Rejects when the pool is closed. */
  async take(): Promise<Thread> {
    if (this.closed) throw closedError()
    for (let thread = this.idle.pop(); thread; thread = this.idle.pop()) {
      if (thread.alive) return thread
      this.all.delete(thread)
    }
    if (this.all.size >= this.threadsMax)
      return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }))
    const thread = new Thread()
    this.all.add(thread)
    try {
      await thread.ready
      return thread
    } catch (error) {
      this.drop(thread)
      throw error
    }
  }

  /** Gives a thread back after a run; one that cannot be used again is ended. */
  give(thread: Thread, reusable: boolean): void {
    thread.listener = undefined
    if (!reusable || !thread.alive || this.closed || (this.waiting.length === 0 && this.idle.length >= this.keepMax)) {
      void thread.end()
      return this.drop(thread)
    }
    const next = this.waiting.shift()
    if (next) next.resolve(thread)
    else this.idle.push(thread)
  }

  /** Its room goes to the run that has waited longest; a thread that cannot be made fails that run. */
  private drop(thread: Thread): void {
    this.all.delete(thread)
    this.waiting.shift()?.resolve(this.take())
  }

  async close(): Promise<void> {
    this.closed = true
    for (const { reject } of this.waiting.splice(0)) reject(closedError())
    await Promise.all([...this.all].map((thread) => thread.end()))
    this.all.clear()
  }
}

function closedError(): Error {
  return new Error('the runtime was ended')
}
