/** Owns the wiring of one OpenAI-compatible provider. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { createAdapter } from './adapter.ts'
import { addressOf } from './address.ts'
import { openModel } from './openai-compatible.ts'

export const name = 'llm-ai-sdk'
export const inject = ['llm', 'world']

export interface Config {
  /** Models are named `provider/model`. */
  provider: string
  /** Up to and without `/chat/completions`. */
  baseURL: string
  apiKey?: string
  /** Name of the environment variable that holds the key; read at each request. */
  apiKeyEnv?: string
  headers: Record<string, string>
  /** How long the endpoint may send nothing. Keep-alive comments count as life. */
  idleTimeoutMs: number
  /** How long a request may take with all its attempts. */
  totalTimeoutMs: number
  /** Attempts after the first, only before the first part of an answer. */
  retriesMax: number
  /** Whether the model's past reasoning goes out again; some endpoints need it, some refuse it. */
  reasoning: 'send' | 'drop'
}

export const Config: z<Partial<Config>, Config> = z.object({
  provider: z
    .string()
    .pattern(/^[^/\s]+$/)
    .required(),
  baseURL: z.string().required(),
  apiKey: z.string().role('secret'),
  apiKeyEnv: z.string(),
  headers: z.dict(z.string()).default({}),
  idleTimeoutMs: z.natural().min(1).default(120_000),
  totalTimeoutMs: z.natural().min(1).default(1_800_000),
  retriesMax: z.natural().max(10).default(3),
  reasoning: z.union(['send', 'drop']).default('send'),
})

export function apply(ctx: Context, config: Config): void {
  const { world } = ctx
  const logger = ctx.logger(name)
  const { provider, apiKey, apiKeyEnv, headers } = config
  const address = addressOf(config.baseURL)
  const warned = new Set<string>()
  const adapter = createAdapter({
    world,
    url: address.url,
    totalMs: config.totalTimeoutMs,
    retriesMax: config.retriesMax,
    reasoning: config.reasoning,
    open: (request) =>
      openModel({ world, provider, address, apiKey, apiKeyEnv, headers, idleMs: config.idleTimeoutMs }, request),
    inform: (message) => logger.info('%s', message),
    warn: (message) => {
      if (warned.has(message)) return
      warned.add(message)
      logger.warn('%s', message)
    },
  })
  ctx.llm.register(provider, adapter)
}
