/** Owns reading an event stream from a response body: pieces of JSON, with a limit on silence and on size. */
import type { Clock } from '@sluice/base'
import { createParser } from 'eventsource-parser'
import { llmErrors } from '@sluice/llm'
import { AttemptFailure } from './attempt-failure.ts'
import { withLimit } from './limit.ts'

/** Bytes of one answer. */
export const RESPONSE_BYTES_MAX = 32 * 1024 * 1024
/** How long to wait for the usage and the end mark once the model has said why it stopped. */
export const AFTER_FINISH_MS = 5_000

export interface EventStreamOptions {
  readonly clock: Clock
  readonly url: string
  readonly idleMs: number
  /** True once the answer has said why it ended: what comes after is welcome, but not waited for. */
  readonly finished: () => boolean
}

/** The data of each event until `[DONE]` or the end. Comments count as life, not as data. */
export async function* eventData(
  body: ReadableStream<Uint8Array>,
  options: EventStreamOptions,
): AsyncGenerator<string, void, undefined> {
  const { clock, url, idleMs, finished } = options
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const ready: string[] = []
  const parser = createParser({ onEvent: ({ data }) => ready.push(data) })
  let received = 0
  const broken = (problem: string) => new AttemptFailure(llmErrors('LLM_BROKEN', { url, problem }), { mayRetry: true })
  try {
    for (;;) {
      const piece = await withLimit(clock, finished() ? AFTER_FINISH_MS : idleMs, reader.read(), () => {
        if (finished()) return { done: true as const, value: undefined }
        const failure = llmErrors('LLM_TIMED_OUT', { url, limit: 'idle limit', ms: idleMs })
        throw new AttemptFailure(failure, { mayRetry: false })
      }).catch((error: unknown) => {
        if (error instanceof AttemptFailure) throw error
        if (finished()) return { done: true as const, value: undefined }
        throw broken(problemOf(error))
      })
      received += piece.value?.byteLength ?? 0
      if (received > RESPONSE_BYTES_MAX) throw broken(`more than ${RESPONSE_BYTES_MAX} bytes`)
      // The blank line completes a last event that was sent without one.
      parser.feed(piece.done ? `${decoder.decode()}\n\n` : decoder.decode(piece.value, { stream: true }))
      for (const data of ready.splice(0)) {
        if (data.trim() === '[DONE]') return
        yield data
      }
      if (piece.done) return
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

/** The innermost reason of a failed fetch or read, such as `ECONNRESET`. */
export function problemOf(error: unknown): string {
  const seen: string[] = []
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const code = (cause as { code?: unknown }).code
    seen.push(typeof code === 'string' && !cause.message.includes(code) ? `${code} ${cause.message}` : cause.message)
  }
  return seen.filter(Boolean).at(-1) ?? 'unknown'
}
