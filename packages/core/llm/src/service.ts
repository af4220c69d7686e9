/** Owns `ctx.llm`: which adapter serves which provider, and the streams that run. */
import type { Context } from 'cordis'
import type { Llm, ModelAdapter, ModelRequest, StreamPart } from './types.ts'
import { Service } from 'cordis'
import { assert } from '@sluice/base'
import { llmErrors } from './errors.ts'
import { modelName } from './model-name.ts'
import { type EndStream, GuardedStream } from './stream.ts'

interface Mounted {
  readonly adapter: ModelAdapter
  /** Running streams; they end when the adapter is unmounted. */
  readonly running: Set<EndStream>
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
          for (const end of entry.running) end()
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
    const { signal } = request
    return new GuardedStream({
      provider,
      // The signal is made when it is looked at.
      open: (abort) =>
        entry.adapter.stream({
          ...request,
          get signal() {
            return abort.signal
          },
        }),
      signal,
      running: entry.running,
      ended: () => {
        if (!signal.aborted) throw missing()
        return { type: 'finish', reason: 'aborted' }
      },
    })
  }
}
