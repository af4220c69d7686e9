/** Owns how a failed attempt travels: the failure, and whether another attempt may help. */
import { isSluiceError, messageOf } from '@sluice/base'
import { llmErrors } from '@sluice/llm'

/** Thrown inside the adapter only; readers of a stream get `failure`. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure'
  readonly failure: Error
  readonly mayRetry: boolean
  /** How long the endpoint asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(failure: Error, options: { readonly mayRetry: boolean; readonly retryAfterMs?: number | undefined }) {
    super(failure.message)
    this.failure = failure
    this.mayRetry = options.mayRetry
    this.retryAfterMs = options.retryAfterMs
  }
}

/** How deep the causes of an error are looked through. */
const CAUSES_MAX = 8

/** What happened, found below whatever the provider library wrapped around it. The wrapping is dropped: it quotes the
 *  whole request. */
export function asAttemptFailure(thrown: unknown, url: string): AttemptFailure {
  let cause = thrown
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth++) {
    if (cause instanceof AttemptFailure) return cause
    if (isSluiceError(cause)) return new AttemptFailure(cause, { mayRetry: false })
    cause = cause.cause
  }
  return new AttemptFailure(llmErrors('LLM_BROKEN', { url, problem: messageOf(thrown) }), { mayRetry: true })
}
