/** Owns the HTTP exchange: one request, its refusals, and an answer in the form that the provider library takes. */
import type { Clock, Network } from '@sluice/base'
import { llmErrors } from '@sluice/llm'
import { AttemptFailure } from './attempt-failure.ts'
import { PiecesError } from './call-pieces.ts'
import { ChatChunks, ChunkError } from './chat-chunks.ts'
import { eventData, problemOf } from './event-stream.ts'
import { withLimit } from './limit.ts'
import { refusalOf, textWithin } from './refusal.ts'

export interface WireOptions {
  readonly clock: Clock
  readonly network: Network
  /** For messages: without credentials and query. */
  readonly url: string
  readonly idleMs: number
  readonly toolNames: ReadonlySet<string>
  readonly mintCallId: () => string
  /** Takes keys out of what an endpoint quotes. */
  readonly hide: (text: string) => string
}

/** Characters of an answer that is no event stream, as shown. */
const EXCERPT_MAX = 200

/** A fetch whose answer is an orderly event stream. Rejects with an AttemptFailure. */
export function wireFetch(options: WireOptions): typeof fetch {
  const { clock, network, url, idleMs, hide } = options
  return async (input, init) => {
    const timedOut = () => {
      throw new AttemptFailure(llmErrors('LLM_TIMED_OUT', { url, limit: 'idle limit', ms: idleMs }), {
        mayRetry: false,
      })
    }
    const response = await withLimit(clock, idleMs, network.fetch(input, init), timedOut).catch((error: unknown) => {
      if (error instanceof AttemptFailure) throw error
      const failure = llmErrors('LLM_UNREACHABLE', { url, problem: hide(problemOf(error)) })
      throw new AttemptFailure(failure, { mayRetry: true })
    })
    if (!response.ok) throw await refusalOf(response, options)
    const { body } = response
    const type = response.headers.get('content-type') ?? ''
    if (body === null || /\b(html|json)\b/.test(type)) {
      const excerpt = body === null ? 'nothing' : hide(await textWithin(body, clock)).slice(0, EXCERPT_MAX)
      const problem = `it sent ${type || 'no body'} instead of an event stream: ${excerpt}`
      throw new AttemptFailure(llmErrors('LLM_BROKEN', { url, problem }), { mayRetry: false })
    }
    return new Response(ReadableStream.from(orderly(body, options)), {
      headers: { 'content-type': 'text/event-stream' },
    })
  }
}

async function* orderly(body: ReadableStream<Uint8Array>, options: WireOptions) {
  const { clock, url, idleMs, toolNames, mintCallId, hide } = options
  const chunks = new ChatChunks(toolNames, mintCallId)
  const encoder = new TextEncoder()
  const event = (chunk: object) => encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`)
  try {
    for await (const data of eventData(body, { clock, url, idleMs, finished: () => chunks.finished })) {
      for (const chunk of chunks.push(data)) yield event(chunk)
    }
    yield event(chunks.end())
  } catch (error) {
    if (!(error instanceof ChunkError || error instanceof PiecesError)) throw error
    throw new AttemptFailure(llmErrors('LLM_BROKEN', { url, problem: hide(error.message) }), { mayRetry: true })
  }
}
