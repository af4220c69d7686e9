/** Owns which endpoint and model a run uses: the environment names the endpoint, `--model` the model. */
import { cliErrors } from './errors.ts'

export interface ModelChoice {
  readonly provider: string
  /** Name at the endpoint, without provider. */
  readonly name: string
  readonly baseUrl: string
  readonly apiKey: string | undefined
}

type Env = Readonly<Record<string, string | undefined>>

interface Endpoint extends Omit<ModelChoice, 'name'> {
  readonly name: string | undefined
}

/** `wanted` is a name at the first endpoint that the environment knows, or `provider/name` for a certain one.
 *  @throws CLI_NO_MODEL, CLI_MODEL_UNNAMED */
export function chooseModel(env: Env, wanted?: string): ModelChoice {
  const known = endpoints(env)
  const named = known.find(({ provider }) => wanted?.startsWith(`${provider}/`))
  const endpoint = named ?? known[0]
  if (!endpoint) throw cliErrors('CLI_NO_MODEL', {})
  const name = (named ? wanted?.slice(named.provider.length + 1) : wanted) || env.SLUICE_MODEL || endpoint.name
  if (!name) throw cliErrors('CLI_MODEL_UNNAMED', { baseUrl: endpoint.baseUrl })
  return { ...endpoint, name }
}

/** The endpoint that the user wrote out comes before those of the well-known keys. */
function endpoints(env: Env): readonly Endpoint[] {
  const known: Endpoint[] = []
  if (env.SLUICE_BASE_URL) {
    known.push({ provider: 'custom', baseUrl: env.SLUICE_BASE_URL, apiKey: env.SLUICE_API_KEY, name: undefined })
  }
  if (env.DEEPSEEK_API_KEY) {
    const baseUrl = 'https://api.deepseek.com'
    known.push({ provider: 'deepseek', baseUrl, apiKey: env.DEEPSEEK_API_KEY, name: 'deepseek-chat' })
  }
  if (env.OPENAI_API_KEY) {
    const baseUrl = env.OPENAI_BASE_URL || 'https://api.openai.com/v1'
    known.push({ provider: 'openai', baseUrl, apiKey: env.OPENAI_API_KEY, name: 'gpt-5-mini' })
  }
  return known
}
