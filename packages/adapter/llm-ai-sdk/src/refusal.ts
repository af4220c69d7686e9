/** Owns reading what an endpoint says when it refuses: bounded in time and size. */
import type { Clock } from '@sluice/base'
import { llmErrors } from '@sluice/llm'
import { AttemptFailure } from './attempt-failure.ts'
import { withLimit } from './limit.ts'
import { retryAfterMs } from './retry-after.ts'

/** How long the body of a refusal may take; what came until then is used. */
export const ERROR_BODY_MS = 5_000
export const ERROR_BODY_BYTES_MAX = 64 * 1024
/** Characters of a refusal as shown. */
const SHOWN_MAX = 500

export interface RefusalOptions {
  readonly clock: Clock
  readonly url: string
  /** Takes keys out of what an endpoint quotes. */
  readonly hide: (text: string) => string
}

export async function refusalOf(response: Response, options: RefusalOptions): Promise<AttemptFailure> {
  const { clock, url, hide } = options
  const { status, headers } = response
  const text = response.body === null ? '' : hide(await textWithin(response.body, clock))
  const body = messageIn(text).slice(0, SHOWN_MAX) || response.statusText || 'no reason given'
  return new AttemptFailure(llmErrors('LLM_REFUSED', { url, status, body }), {
    mayRetry: mayPass(status) && !/insufficient_quota/.test(text),
    retryAfterMs: retryAfterMs(headers, clock.now()),
  })
}

/** Refusals that are about the moment, not about the request. */
function mayPass(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505)
}

/** As much of `body` as arrives within the limits. Never rejects; the rest is cancelled. */
export async function textWithin(body: ReadableStream<Uint8Array>, clock: Clock): Promise<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reading = (async () => {
    while (bytes < ERROR_BODY_BYTES_MAX) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.byteLength
      text += decoder.decode(value, { stream: true })
    }
  })()
  await withLimit(clock, ERROR_BODY_MS, reading, () => undefined).catch(() => undefined)
  void reader.cancel().catch(() => undefined)
  return text
}

/** The message inside the usual shapes of an error body, else the text. */
function messageIn(text: string): string {
  try {
    const value = JSON.parse(text) as { error?: { message?: unknown } | string; message?: unknown } | null
    const error = value?.error
    const found = typeof error === 'string' ? error : (error?.message ?? value?.message)
    return typeof found === 'string' ? found : text
  } catch {
    return text
  }
}
