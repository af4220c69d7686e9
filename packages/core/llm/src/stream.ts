/** Owns the guarantees of a stream: valid parts, well-formed text, exactly one end, and an end as soon as it is aborted. */
import { AbortSource } from '@sluice/listeners'
import type { StreamPart } from './types.ts'
import { checkedPart } from './part.ts'
import { TextSeam } from './text-seam.ts'

export interface GuardedSource {
  readonly provider: string
  /** Called once, when the first part is asked for. */
  readonly open: (abort: AbortSource) => AsyncIterable<unknown>
  /** The caller's own. */
  readonly signal: AbortSignal
  /** How the stream is ended from outside until it has ended; the caller's signal ends it too. */
  readonly running: Set<EndStream>
  /** Turns an end from outside into the part that ends the stream, or throws. */
  readonly ended: () => StreamPart
}

export type EndStream = () => void

/** Why what the adapter left open for a request is closed: its stream is over. */
const over = new Error('the stream has ended')

type Next = IteratorResult<StreamPart, undefined>

/** Parts of `source` in order, ending with exactly one `finish`. Rejects with what the source rejects with, and with
 *  LLM_PART_INVALID. No generator, of which each part would cost several promises more. */
export class GuardedStream implements AsyncIterableIterator<StreamPart, undefined> {
  private readonly source: GuardedSource
  private readonly seam = new TextSeam()
  private abort: AbortSource | undefined
  private parts: AsyncIterator<unknown> | undefined
  private calls = 0
  /** Parts that nobody has asked for yet; the failure comes after them. */
  private readonly ready: StreamPart[] = []
  private failure: { readonly error: unknown } | undefined
  private isOver = false
  private asked: Promise<Next> | undefined
  private answer: ((next: Next | Promise<Next>) => void) | undefined

  constructor(source: GuardedSource) {
    this.source = source
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Next> {
    const again = () => this.next()
    if (this.answer) return (this.asked as Promise<Next>).then(again, again)
    this.begin()
    const known = this.known()
    if (known) return Promise.resolve(known)
    this.asked = new Promise((resolve) => (this.answer = resolve))
    this.pull()
    return this.asked
  }

  return(): Promise<Next> {
    this.over()
    this.ready.length = 0
    this.failure = undefined
    this.tell()
    return Promise.resolve({ done: true, value: undefined })
  }

  private begin(): void {
    if (this.abort) return
    const { signal, running, open } = this.source
    this.abort = new AbortSource(signal)
    if (this.abort.aborted) return this.ended()
    this.abort.on(() => this.ended())
    running.add(this.end)
    try {
      this.parts = open(this.abort)[Symbol.asyncIterator]()
    } catch (error) {
      this.failed(error)
    }
  }

  /** What can be said without waiting. */
  private known(): Next | Promise<Next> | undefined {
    const value = this.ready.shift()
    if (value) return { done: false, value }
    const { failure } = this
    if (failure) {
      this.failure = undefined
      return Promise.reject<Next>(failure.error as Error)
    }
    return this.isOver ? { done: true, value: undefined } : undefined
  }

  /** Answers whoever has asked, if there is something to say. */
  private tell(): void {
    const known = this.answer && this.known()
    if (!known) return
    this.answer?.(known)
    this.answer = undefined
  }

  private pull(): void {
    try {
      this.parts?.next().then(this.came, this.failed)
    } catch (error) {
      this.failed(error)
    }
  }

  private readonly came = (next: IteratorResult<unknown>): void => {
    if (this.isOver) return
    try {
      this.add(next.done ? { type: 'finish', reason: 'incomplete' } : checkedPart(next.value, this.source.provider))
    } catch (error) {
      return this.failed(error)
    }
    if (this.ready.length === 0) this.pull()
    else this.tell()
  }

  private add(part: StreamPart): void {
    const { ready, seam } = this
    if (part.type === 'text' || part.type === 'reasoning') return void ready.push(...seam.push(part))
    if (part.type === 'tool-call') this.calls++
    ready.push(...seam.flush(), part.type === 'finish' ? settledFinish(part, this.calls) : part)
    if (part.type === 'finish') this.over()
  }

  private readonly failed = (error: unknown): void => {
    if (this.isOver) return
    this.over()
    this.failure = { error }
    this.tell()
  }

  /** Ends the stream from outside. */
  private readonly end = (): void => this.abort?.fire(over)

  /** The stream is ended from outside. */
  private ended(): void {
    if (this.isOver) return
    this.over()
    this.ready.push(...this.seam.flush())
    try {
      this.ready.push(this.source.ended())
    } catch (error) {
      this.failure = { error }
    }
    this.tell()
  }

  /** Whatever the adapter left open for this request ends with it. */
  private over(): void {
    if (this.isOver) return
    this.isOver = true
    this.source.running.delete(this.end)
    this.abort?.fire(over)
    this.abort?.close()
    // Not awaited: an adapter that hangs while it cleans up must not hold the turn.
    if (this.parts) void closed(this.parts)
  }
}

async function closed(parts: AsyncIterator<unknown>): Promise<void> {
  try {
    await parts.return?.()
  } catch {
    // The stream has ended as it has.
  }
}

type Finish = Extract<StreamPart, { type: 'finish' }>

/** Some endpoints say `stop` after calls, and some announce calls that never come. */
function settledFinish(part: Finish, calls: number): Finish {
  if (part.reason === 'stop' && calls > 0) return { ...part, reason: 'tool-calls' }
  if (part.reason === 'tool-calls' && calls === 0) return { ...part, reason: 'incomplete' }
  return part
}
