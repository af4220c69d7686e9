/** Owns the guarantees of a stream: valid parts, well-formed text, exactly one end, and an end as soon as it is aborted. */
import type { StreamPart } from './types.ts'
import { checkedPart } from './part.ts'
import { TextSeam } from './text-seam.ts'

export interface GuardedSource {
  readonly provider: string
  readonly parts: AsyncIterable<unknown>
  /** Fires when the request is aborted or the adapter is unmounted. */
  readonly signal: AbortSignal
  /** Turns the end by `signal` into the part that ends the stream, or throws. */
  readonly ended: () => StreamPart
}

/** Parts of `source` in order, ending with exactly one `finish`. Rejects with what the source rejects with.
 *  @throws LLM_PART_INVALID */
export async function* guardedStream(source: GuardedSource): AsyncGenerator<StreamPart, void, undefined> {
  const { provider, signal } = source
  if (signal.aborted) return yield source.ended()
  const iterator = source.parts[Symbol.asyncIterator]()
  const seam = new TextSeam()
  const reader = abortableReader(iterator, signal)
  let calls = 0
  try {
    for (;;) {
      const next = await reader.next()
      if (next === 'aborted') {
        yield* seam.flush()
        return yield source.ended()
      }
      const part: StreamPart = next.done ? { type: 'finish', reason: 'incomplete' } : checkedPart(next.value, provider)
      if (part.type === 'tool-call') calls++
      if (part.type === 'text' || part.type === 'reasoning') yield* seam.push(part)
      else {
        yield* seam.flush()
        if (part.type === 'finish') return yield settledFinish(part, calls)
        yield part
      }
    }
  } finally {
    reader.dispose()
    // Not awaited: an adapter that hangs while it cleans up must not hold the turn.
    void Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

type Finish = Extract<StreamPart, { type: 'finish' }>

/** Some endpoints say `stop` after calls, and some announce calls that never come. */
function settledFinish(part: Finish, calls: number): Finish {
  if (part.reason === 'stop' && calls > 0) return { ...part, reason: 'tool-calls' }
  if (part.reason === 'tool-calls' && calls === 0) return { ...part, reason: 'incomplete' }
  return part
}

/** Reads one item at a time and stops waiting when the signal fires; what comes after that is not looked at. */
function abortableReader(iterator: AsyncIterator<unknown>, signal: AbortSignal) {
  let wake: ((value: 'aborted') => void) | undefined
  const onAbort = () => wake?.('aborted')
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    next: () =>
      new Promise<IteratorResult<unknown> | 'aborted'>((resolve, reject) => {
        if (signal.aborted) return resolve('aborted')
        wake = resolve
        iterator.next().then(resolve, reject)
      }),
    dispose: () => signal.removeEventListener('abort', onAbort),
  }
}
