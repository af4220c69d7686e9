/** Owns the OpenAI-compatible endpoint: its address, its key, and the model object for one request. */
import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { World } from '@sluice/base'
import type { ModelRequest } from '@sluice/llm'
import { mintId } from '@sluice/base'
import { modelName } from '@sluice/llm'
import { type Address, hider } from './address.ts'
import { llmAiSdkErrors } from './errors.ts'
import { wellFormed } from './well-formed.ts'
import { wireFetch } from './wire.ts'
import { wireName } from './wire-arguments.ts'

export interface EndpointOptions {
  readonly world: World
  readonly provider: string
  readonly address: Address
  readonly apiKey?: string | undefined
  readonly apiKeyEnv?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly idleMs: number
}

/** @throws LLM_KEY_MISSING */
export async function openModel(options: EndpointOptions, request: ModelRequest): Promise<LanguageModelV3> {
  const { world, provider, address, headers, idleMs } = options
  const apiKey = keyOf(options)
  const basic =
    address.authorization === undefined || apiKey !== undefined ? {} : { authorization: address.authorization }
  // Loaded with the first request, so that mounting costs nothing.
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const endpoint = createOpenAICompatible({
    name: provider,
    baseURL: address.url,
    queryParams: { ...address.query },
    includeUsage: true,
    headers: { ...basic, ...headers },
    ...(apiKey !== undefined && { apiKey }),
    transformRequestBody: (body) => wellFormed(body) as Record<string, unknown>,
    fetch: wireFetch({
      clock: world.clock,
      network: world.network,
      url: address.url,
      idleMs,
      toolNames: new Set(request.tools.map((tool) => wireName(tool.name))),
      mintCallId: () => mintId(world, 'call'),
      hide: hider([apiKey, ...Object.values(headers), ...address.secrets]),
    }),
  })
  return endpoint.chatModel(modelName(request.model).model)
}

function keyOf({ apiKey, apiKeyEnv, provider, world }: EndpointOptions): string | undefined {
  if (apiKey !== undefined || apiKeyEnv === undefined) return apiKey
  const value = world.host.env[apiKeyEnv]
  if (!value) throw llmAiSdkErrors('LLM_KEY_MISSING', { provider, variable: apiKeyEnv })
  return value
}
