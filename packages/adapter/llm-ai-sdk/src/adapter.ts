/** Owns the life of one model request: limits, attempts, and which failure its reader sees. */
import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { World } from '@sluice/base'
import type { ModelAdapter, ModelRequest, StreamPart } from '@sluice/llm'
import { sleep } from '@sluice/base'
import { llmErrors } from '@sluice/llm'
import pRetry from 'p-retry'
import { asAttemptFailure, AttemptFailure } from './attempt-failure.ts'
import { streamParts } from './stream-parts.ts'
import { strictSchema } from './tool-schema.ts'
import { wireName } from './wire-arguments.ts'
import { type PromptOptions, wirePrompt } from './wire-prompt.ts'

/** A longer wait than this is not sat out: the refusal is passed on at once. */
export const RETRY_AFTER_MAX_MS = 60_000
/** Waits between attempts without advice of the endpoint: doubled each time, up to this, less a random part. */
export const BACKOFF_FIRST_MS = 500
export const BACKOFF_MAX_MS = 30_000

export interface AdapterOptions extends PromptOptions {
  readonly world: Pick<World, 'clock' | 'random'>
  /** For messages. */
  readonly url: string
  readonly totalMs: number
  readonly retriesMax: number
  /** The model for one request. */
  readonly open: (request: ModelRequest) => Promise<LanguageModelV3>
  /** Tells a person, once per tool, what of its schema could not be kept. */
  readonly warn: (message: string) => void
  /** Tells a person that another attempt follows, and when. */
  readonly inform: (message: string) => void
}

export function createAdapter(options: AdapterOptions): ModelAdapter {
  return { stream: (request) => run(options, request) }
}

async function* run(options: AdapterOptions, request: ModelRequest): AsyncGenerator<StreamPart, void, undefined> {
  const { world, url, totalMs } = options
  const whole = linked(request.signal)
  const cancelTotal = world.clock.timer(totalMs, () =>
    whole.abort(llmErrors('LLM_TIMED_OUT', { url, limit: 'total limit', ms: totalMs })),
  )
  let attempt: Attempt | undefined
  try {
    attempt = await firstPart(options, request, whole.signal)
    for (let next = attempt.first; !next.done; next = await attempt.parts.next()) yield next.value
  } catch (error) {
    // After an abort or the total limit every other failure is only its echo.
    if (whole.signal.aborted) throw whole.signal.reason
    throw asAttemptFailure(error, url).failure
  } finally {
    cancelTotal()
    whole.abort()
  }
}

interface Attempt {
  readonly first: IteratorResult<StreamPart>
  readonly parts: AsyncIterator<StreamPart>
}

/** Attempts until one has given its first part; from then on nothing is tried again. */
async function firstPart(options: AdapterOptions, request: ModelRequest, signal: AbortSignal): Promise<Attempt> {
  const call = { ...(await callOptions(options, request)), abortSignal: signal }
  const model = await options.open({ ...request, signal })
  return pRetry(() => begin(model, call, options.url), {
    retries: options.retriesMax,
    minTimeout: 0,
    shouldRetry: ({ error, retriesConsumed }) => waited(options, error, retriesConsumed, signal),
  })
}

/** Reads up to the first part. What fails closes its connection by itself. */
async function begin(model: LanguageModelV3, call: LanguageModelV3CallOptions, url: string): Promise<Attempt> {
  try {
    const { stream } = await model.doStream(call)
    const parts = streamParts(stream, url)
    return { first: await parts.next(), parts }
  } catch (error) {
    throw asAttemptFailure(error, url)
  }
}

/** True after the wait before another attempt; false when there should be none. */
async function waited(options: AdapterOptions, error: Error, retries: number, signal: AbortSignal): Promise<boolean> {
  if (!(error instanceof AttemptFailure) || !error.mayRetry || signal.aborted) return false
  const { clock, random } = options.world
  const backoff = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** retries) * (1 - random.float() / 2)
  const ms = error.retryAfterMs ?? backoff
  if (ms > RETRY_AFTER_MAX_MS) return false
  options.inform(`${error.message}; another attempt follows in ${Math.ceil(ms / 1000)} s`)
  return sleep(clock, ms, signal).then(
    () => true,
    () => false,
  )
}

async function callOptions(options: AdapterOptions, request: ModelRequest): Promise<LanguageModelV3CallOptions> {
  const tools = request.tools.map(({ name, description, parameters }) => {
    const { parameters: inputSchema, notes } = strictSchema(parameters)
    for (const note of notes) options.warn(`the schema of the tool ${name}: ${note}`)
    return { type: 'function' as const, name: wireName(name), description, inputSchema }
  })
  return {
    prompt: await wirePrompt(request, options),
    ...(tools.length > 0 && { tools }),
    ...(request.outputTokensMax !== undefined && { maxOutputTokens: request.outputTokensMax }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
  }
}

/** A controller that also fires with `signal`. */
function linked(signal: AbortSignal): AbortController {
  const controller = new AbortController()
  const onAbort = () => controller.abort(signal.reason)
  if (signal.aborted) onAbort()
  else {
    signal.addEventListener('abort', onAbort, { once: true })
    controller.signal.addEventListener('abort', () => signal.removeEventListener('abort', onAbort), { once: true })
  }
  return controller
}
