/** Owns a first-in-first-out queue with a named bound. */
import { defineErrors } from './errors.ts'

export const queueErrors = defineErrors({
  QUEUE_FULL: {
    when: 'a bounded queue holds as many items as it may',
    message: (d: { name: string; max: number }) => `the queue ${d.name} is full (${d.max} items)`,
    remedy: 'Wait until the reader has caught up, or raise the bound where the queue is made.',
  },
})

export class BoundedQueue<T> {
  readonly name: string
  readonly max: number
  private items: T[] = []
  private head = 0

  constructor(name: string, max: number) {
    this.name = name
    this.max = max
  }

  get size(): number {
    return this.items.length - this.head
  }

  /** @throws QUEUE_FULL */
  push(item: T): void {
    if (this.size >= this.max) throw queueErrors('QUEUE_FULL', { name: this.name, max: this.max })
    this.items.push(item)
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined
    const item = this.items[this.head] as T
    this.items[this.head] = undefined as T
    this.head++
    if (this.head > 64 && this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }

  /** Everything queued, oldest first; the queue is empty afterwards. */
  drain(): T[] {
    const all = this.items.slice(this.head)
    this.items = []
    this.head = 0
    return all
  }
}
