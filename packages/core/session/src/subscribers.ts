/** Owns telling subscribers of events, one after the other and in order. */
import { assert } from '@sluice/base'
import type { SessionEvent } from './types.ts'

/** Events that listeners may append in answer to one append before that counts as a loop. */
export const ANSWERS_MAX = 10_000

interface Subscriber {
  readonly listener: (event: SessionEvent) => void
  active: boolean
}

export class Subscribers {
  private readonly onError: (error: unknown) => void
  /** Replaced, never changed: one that is being walked stays as it is. */
  private list: readonly Subscriber[] = []
  private readonly queue: SessionEvent[] = []
  private telling = false

  constructor(onError: (error: unknown) => void) {
    this.onError = onError
  }

  add(listener: (event: SessionEvent) => void): () => void {
    const own: Subscriber = { listener, active: true }
    this.list = [...this.list, own]
    return () => {
      own.active = false
      this.list = this.list.filter((other) => other !== own)
    }
  }

  clear(): void {
    this.list = []
  }

  assertNoLoop(type: string): void {
    assert(this.queue.length < ANSWERS_MAX, `listeners of a session answer events with events without end (${type})`)
  }

  /** An event that comes inside a listener is announced after the running one. */
  announce(event: SessionEvent): void {
    if (this.list.length === 0) return
    this.queue.push(event)
    if (this.telling) return
    this.telling = true
    try {
      for (let next = this.queue[0], at = 0; next; next = this.queue[++at]) this.tell(next)
    } finally {
      this.queue.length = 0
      this.telling = false
    }
  }

  private tell(event: SessionEvent): void {
    for (const subscriber of this.list) {
      if (!subscriber.active) continue
      try {
        subscriber.listener(event)
      } catch (error) {
        this.onError(error)
      }
    }
  }
}
