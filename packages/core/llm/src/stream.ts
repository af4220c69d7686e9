/** Owns the guarantees of a stream: valid parts, well-formed text, exactly one end, and an end as soon as it is aborted. */
import type { StreamPart } from './types.ts'
import { checkedPart } from './part.ts'
import { TextSeam } from './text-seam.ts'

export interface GuardedSource {
  readonly provider: string
  /** Called once, when the first part is asked for. */
  readonly open: (signal: AbortSignal) => AsyncIterable<unknown>
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

/** Parts of `source` in order, ending with exactly one `finish`. Rejects with what the source rejects with.
 *  @throws LLM_PART_INVALID */
export async function* guardedStream(source: GuardedSource): AsyncGenerator<StreamPart, void, undefined> {
  const { provider, signal, running } = source
  if (signal.aborted) return yield source.ended()
  const controller = new AbortController()
  let wake: ((value: 'ended') => void) | undefined
  const end = () => {
    controller.abort(signal.aborted ? signal.reason : over)
    wake?.('ended')
  }
  signal.addEventListener('abort', end)
  running.add(end)
  let iterator: AsyncIterator<unknown> | undefined
  try {
    iterator = source.open(controller.signal)[Symbol.asyncIterator]()
    const parts = iterator
    const seam = new TextSeam()
    let calls = 0
    for (;;) {
      const next = await new Promise<IteratorResult<unknown> | 'ended'>((resolve, reject) => {
        if (controller.signal.aborted) return resolve('ended')
        wake = resolve
        parts.next().then(resolve, reject)
      })
      if (next === 'ended') {
        yield* seam.flush()
        return yield source.ended()
      }
      const part: StreamPart = next.done ? { type: 'finish', reason: 'incomplete' } : checkedPart(next.value, provider)
      if (part.type === 'tool-call') calls++
      for (const piece of part.type === 'text' || part.type === 'reasoning' ? seam.push(part) : seam.flush())
        yield piece
      if (part.type === 'finish') return yield settledFinish(part, calls)
      if (part.type === 'tool-call' || part.type === 'tool-call-started') yield part
    }
  } finally {
    signal.removeEventListener('abort', end)
    running.delete(end)
    // Whatever the adapter left open for this request ends with it.
    end()
    // Not awaited: an adapter that hangs while it cleans up must not hold the turn.
    void Promise.resolve(iterator?.return?.()).catch(() => undefined)
  }
}

type Finish = Extract<StreamPart, { type: 'finish' }>

/** Some endpoints say `stop` after calls, and some announce calls that never come. */
function settledFinish(part: Finish, calls: number): Finish {
  if (part.reason === 'stop' && calls > 0) return { ...part, reason: 'tool-calls' }
  if (part.reason === 'tool-calls' && calls === 0) return { ...part, reason: 'incomplete' }
  return part
}
