/** Owns `ctx.llm`: which adapter serves which provider, and the streams that run. */
import type { Context } from 'cordis'
import type { Llm, ModelAdapter, ModelRequest, StreamPart } from './types.ts'
import { Service } from 'cordis'
import { assert } from '@sluice/base'
import { llmErrors } from './errors.ts'
import { modelName } from './model-name.ts'
import { guardedStream } from './stream.ts'

interface Mounted {
  readonly adapter: ModelAdapter
  /** One per running stream; fired when the adapter is unmounted. */
  readonly running: Set<AbortController>
}

export class LlmService extends Service implements Llm {
  private readonly mounted = new Map<string, Mounted>()

  constructor(ctx: Context) {
    super(ctx, 'llm')
  }

  register(provider: string, adapter: ModelAdapter): () => void {
    assert(/^[^/\s]+$/.test(provider), `a provider name has no slash and no space: ${JSON.stringify(provider)}`)
    if (this.mounted.has(provider)) throw llmErrors('LLM_PROVIDER_TAKEN', { provider })
    const entry: Mounted = { adapter, running: new Set() }
    const dispose = this.ctx.effect(
      () => {
        this.mounted.set(provider, entry)
        return () => {
          this.mounted.delete(provider)
          for (const controller of entry.running) controller.abort()
        }
      },
      `ctx.llm.register(${JSON.stringify(provider)})`,
    )
    return () => void dispose()
  }

  providers(): readonly string[] {
    return [...this.mounted.keys()].sort()
  }

  stream(request: ModelRequest): AsyncIterable<StreamPart> {
    const { provider, model } = modelName(request.model)
    const entry = model === '' ? undefined : this.mounted.get(provider)
    const missing = () => llmErrors('LLM_NO_ADAPTER', { model: request.model, providers: this.providers() })
    if (entry === undefined) throw missing()
    return run(entry, provider, request, missing)
  }
}

async function* run(entry: Mounted, provider: string, request: ModelRequest, missing: () => Error) {
  const controller = new AbortController()
  const onAbort = () => controller.abort(request.signal.reason)
  if (request.signal.aborted) onAbort()
  request.signal.addEventListener('abort', onAbort, { once: true })
  entry.running.add(controller)
  try {
    yield* guardedStream({
      provider,
      parts: lazily(() => entry.adapter.stream({ ...request, signal: controller.signal })),
      signal: controller.signal,
      ended: () => {
        if (!request.signal.aborted) throw missing()
        return { type: 'finish', reason: 'aborted' }
      },
    })
  } finally {
    request.signal.removeEventListener('abort', onAbort)
    entry.running.delete(controller)
    // Whatever the adapter left open for this request ends with it.
    controller.abort()
  }
}

/** An adapter that throws instead of returning a stream fails where the stream is read, like any other failure. */
function lazily(open: () => AsyncIterable<unknown>): AsyncIterable<unknown> {
  return { [Symbol.asyncIterator]: () => open()[Symbol.asyncIterator]() }
}
