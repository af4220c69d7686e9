/** Owns which endpoint and model a run uses: the environment names the endpoint, `--model` the model. */
import type { JsonObject } from '@sluice/base'
import type { CompositionEntry } from '@sluice/compose'
import { cliErrors } from './errors.ts'

export const ADAPTER = '@sluice/llm-ai-sdk'
/** Id of the entry that the environment fills. */
export const MODEL_ENTRY = 'model'

type Env = Readonly<Record<string, string | undefined>>

interface Endpoint {
  readonly provider: string
  readonly baseURL: string
  /** The variable that holds the key, where there is one: the key itself stays where it is. */
  readonly apiKeyEnv: string | undefined
  /** Model when none is named. */
  readonly model: string | undefined
}

export interface ModelChoice {
  /** `provider/name`. */
  readonly model: string
  readonly entries: readonly CompositionEntry[]
}

/** The model of a run, and the entries of its composition with the endpoint of that model filled in. `wanted` is
 *  `provider/name`, or a name at the first endpoint that the environment knows.
 *  @throws CLI_NO_MODEL, CLI_MODEL_UNNAMED */
export function chooseModel(entries: readonly CompositionEntry[], env: Env, wanted: string | undefined): ModelChoice {
  const known = endpoints(env)
  const named = known.find(({ provider }) => wanted?.startsWith(`${provider}/`))
  const endpoint = named ?? known[0]
  const own = entries.some(
    (entry) => wanted?.startsWith(`${String(entry.config?.provider)}/`) && entry.name === ADAPTER,
  )
  // A model that the composition serves by itself, or says that it does, needs no endpoint from here.
  if (wanted !== undefined && ((own && !named) || (!endpoint && wanted.includes('/'))))
    return { model: wanted, entries }
  if (!endpoint) throw cliErrors('CLI_NO_MODEL', {})
  const name = (named ? wanted?.slice(named.provider.length + 1) : wanted) || env.SLUICE_MODEL || endpoint.model
  if (!name) throw cliErrors('CLI_MODEL_UNNAMED', { baseURL: endpoint.baseURL })
  return { model: `${endpoint.provider}/${name}`, entries: withEndpoint(entries, endpoint) }
}

/** The endpoint that the user wrote out comes before those of the well-known keys. */
function endpoints(env: Env): readonly Endpoint[] {
  const known: Endpoint[] = []
  if (env.SLUICE_BASE_URL) {
    const apiKeyEnv = env.SLUICE_API_KEY ? 'SLUICE_API_KEY' : undefined
    known.push({ provider: 'custom', baseURL: env.SLUICE_BASE_URL, apiKeyEnv, model: undefined })
  }
  if (env.DEEPSEEK_API_KEY) {
    const baseURL = 'https://api.deepseek.com'
    known.push({ provider: 'deepseek', baseURL, apiKeyEnv: 'DEEPSEEK_API_KEY', model: 'deepseek-chat' })
  }
  if (env.OPENAI_API_KEY) {
    const baseURL = env.OPENAI_BASE_URL || 'https://api.openai.com/v1'
    known.push({ provider: 'openai', baseURL, apiKeyEnv: 'OPENAI_API_KEY', model: 'gpt-5-mini' })
  }
  return known
}

function withEndpoint(entries: readonly CompositionEntry[], endpoint: Endpoint): readonly CompositionEntry[] {
  if (entries.some(({ id }) => id === MODEL_ENTRY)) {
    return entries.map((entry) =>
      entry.id === MODEL_ENTRY ? { ...entry, config: filled(entry, endpoint), disabled: false } : entry,
    )
  }
  const config = filled({ config: undefined }, endpoint)
  return [...entries, { id: MODEL_ENTRY, name: ADAPTER, config, disabled: false, line: 0 }]
}

/** The other options of the entry stay; what it says of its own endpoint goes, so that no key is sent to another. */
function filled({ config }: Pick<CompositionEntry, 'config'>, { provider, baseURL, apiKeyEnv }: Endpoint): JsonObject {
  const { apiKey: _key, apiKeyEnv: _env, headers: _headers, ...others } = config ?? {}
  return { ...others, provider, baseURL, ...(apiKeyEnv !== undefined && { apiKeyEnv }) }
}
