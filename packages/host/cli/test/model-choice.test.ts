import type { CompositionEntry } from '@sluice/compose'
import { describe, expect, test } from 'vitest'
import { chooseModel } from '../src/model-choice.ts'

const entry = (id: string, name: string, config?: CompositionEntry['config']): CompositionEntry => ({
  id,
  name,
  config,
  disabled: false,
  line: 1,
})
const model = entry('model', '@sluice/llm-ai-sdk', { retriesMax: 1 })

function chosen(env: Record<string, string>, wanted?: string, entries: readonly CompositionEntry[] = [model]) {
  const choice = chooseModel(entries, env, wanted)
  return { model: choice.model, config: choice.entries.find(({ id }) => id === 'model')?.config }
}

describe('the model of a run', () => {
  test('a DeepSeek key picks DeepSeek, and the key itself stays in its variable', () => {
    expect(chosen({ DEEPSEEK_API_KEY: 'k-1' })).toEqual({
      model: 'deepseek/deepseek-chat',
      config: {
        retriesMax: 1,
        provider: 'deepseek',
        baseURL: 'https://api.deepseek.com',
        apiKeyEnv: 'DEEPSEEK_API_KEY',
      },
    })
  })

  test('an OpenAI key picks OpenAI or the endpoint of OPENAI_BASE_URL', () => {
    expect(chosen({ OPENAI_API_KEY: 'k' }).config?.baseURL).toBe('https://api.openai.com/v1')
    const other = chosen({ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://localhost:1/v1', SLUICE_MODEL: 'm' })
    expect([other.model, other.config?.baseURL]).toEqual(['openai/m', 'http://localhost:1/v1'])
  })

  test('an endpoint that is written out wins over well-known keys, and needs a model but no key', () => {
    const env = { SLUICE_BASE_URL: 'http://localhost:1/v1', DEEPSEEK_API_KEY: 'k' }
    expect(chosen({ ...env, SLUICE_MODEL: 'org/m' })).toEqual({
      model: 'custom/org/m',
      config: { retriesMax: 1, provider: 'custom', baseURL: 'http://localhost:1/v1' },
    })
    expect(chosen({ ...env, SLUICE_API_KEY: 's' }, 'm').config?.apiKeyEnv).toBe('SLUICE_API_KEY')
    expect(() => chosen(env)).toThrow(expect.objectContaining({ code: 'CLI_MODEL_UNNAMED' }))
  })

  test('a key or header of the composition is never sent to the endpoint of the environment', () => {
    const own = {
      provider: 'mine',
      baseURL: 'http://mine',
      apiKey: 'k1',
      apiKeyEnv: 'MY_KEY',
      headers: { cookie: 'k2' },
    }
    const env = { SLUICE_BASE_URL: 'http://other', SLUICE_MODEL: 'm' }
    expect(chosen(env, undefined, [entry('model', '@sluice/llm-ai-sdk', own)]).config).toEqual({
      provider: 'custom',
      baseURL: 'http://other',
    })
  })

  test('--model names a model of the first endpoint, or provider/name of a certain one', () => {
    const env = { DEEPSEEK_API_KEY: 'k', OPENAI_API_KEY: 'k' }
    expect(chosen(env, 'deepseek-reasoner').model).toBe('deepseek/deepseek-reasoner')
    expect(chosen(env, 'openai/gpt-x').model).toBe('openai/gpt-x')
    expect(chosen(env, 'openai/gpt-x').config?.apiKeyEnv).toBe('OPENAI_API_KEY')
  })

  test('a model that the composition serves itself is taken as it is', () => {
    const own = entry('mine', '@sluice/llm-ai-sdk', { provider: 'mine', baseURL: 'http://x' })
    expect(chosen({ DEEPSEEK_API_KEY: 'k' }, 'mine/m', [own])).toEqual({ model: 'mine/m', config: undefined })
    expect(chosen({}, 'elsewhere/m', [])).toEqual({ model: 'elsewhere/m', config: undefined })
  })

  test('a composition without an adapter gets one', () => {
    expect(chosen({ DEEPSEEK_API_KEY: 'k' }, undefined, []).config?.provider).toBe('deepseek')
  })

  test('without any endpoint there is no model', () => {
    expect(() => chosen({})).toThrow(expect.objectContaining({ code: 'CLI_NO_MODEL' }))
    expect(() => chosen({}, 'gpt-x')).toThrow(expect.objectContaining({ code: 'CLI_NO_MODEL' }))
  })
})
