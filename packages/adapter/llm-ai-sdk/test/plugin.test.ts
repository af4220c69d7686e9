import type { EndpointScript } from '@sluice/llm/contract'
import type { StreamPart } from '@sluice/llm'
import { LLMock } from '@copilotkit/aimock'
import { adapterCases } from '@sluice/llm/contract'
import { nodeWorld } from '@sluice/world-node'
import { afterEach, describe, expect, test } from 'vitest'
import { createAdapter } from '../src/adapter.ts'
import { addressOf } from '../src/address.ts'
import { openModel } from '../src/openai-compatible.ts'
import { delta, type Endpoint, endpoint, event, type Handler, head, sends } from './endpoint.ts'
import { callsOf, collect, mounted, textOf, tool } from './mounted.ts'

let server: Endpoint | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const ok = sends(delta({ content: 'done' }), delta({}, 'stop'))

function chunkOf(part: StreamPart): unknown {
  if (part.type === 'text') return delta({ content: part.text })
  if (part.type === 'finish') return delta({}, part.reason === 'tool-calls' ? 'tool_calls' : part.reason)
  if (part.type !== 'tool-call') return delta({})
  return delta({ tool_calls: [{ id: part.id, function: { name: part.name, arguments: part.argumentsText } }] })
}

function handlerOf(script: EndpointScript): Handler {
  if (script.kind === 'refuse') {
    return (response) =>
      void response.writeHead(script.status).end(JSON.stringify({ error: { message: script.message } }))
  }
  const chunks = script.parts.map(chunkOf)
  if (script.kind === 'answer') return sends(...chunks)
  return (response) => {
    head(response)
    response.write(chunks.map(event).join(''), () => {
      if (script.kind === 'no-end') response.end()
      if (script.kind === 'break') setImmediate(() => response.destroy())
    })
  }
}

describe('the contract of model adapters', () => {
  // Without ctx.llm, which would mend what the adapter does wrong.
  test.each(adapterCases)('holds over HTTP: $title', async (given) => {
    const own = await endpoint(handlerOf(given.script))
    server = own
    const world = nodeWorld()
    const endpointOptions = { world, provider: 'p', address: addressOf(own.baseURL), headers: {}, idleMs: 60_000 }
    const adapter = createAdapter({
      world,
      url: own.baseURL,
      totalMs: 60_000,
      retriesMax: 0,
      reasoning: 'send',
      open: (request) => openModel(endpointOptions, request),
      warn: () => {},
      inform: () => {},
    })
    const hungUp = own.request(1).then((seen) => seen.hungUp)
    await given.run({ adapter, model: 'p/m', hungUp })
    world.dispose()
  })
})

test('a scripted turn with a tool call and its answer runs over HTTP', async () => {
  const mock = new LLMock({ port: 0 })
  mock.onToolResult('c1', { content: 'In a.' })
  mock.onMessage('where?', { toolCalls: [{ name: 'read', arguments: '{"path":"a"}' }] })
  await mock.start()
  try {
    const { stream } = await mounted({ baseURL: `${mock.url}/v1`, apiKey: 'any' })
    const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'where?' }] }
    const first = await collect(stream({ messages: [user], tools: [tool('read')] }))
    const [call] = callsOf(first)
    expect(call).toMatchObject({ name: 'read', argumentsText: '{"path":"a"}' })
    expect(first.at(-1)).toMatchObject({ type: 'finish', reason: 'tool-calls' })
    const messages = [
      user,
      {
        role: 'assistant' as const,
        content: [{ type: 'tool-call' as const, id: 'c1', name: 'read', argumentsText: '{}' }],
      },
      {
        role: 'tool' as const,
        callId: 'c1',
        tool: 'read',
        content: [{ type: 'text' as const, text: 'A' }],
        isError: false,
      },
    ]
    expect(textOf(await collect(stream({ messages, tools: [tool('read')] })))).toBe('In a.')
  } finally {
    await mock.stop()
  }
})

test('the key goes out as a bearer token, beside configured headers', async () => {
  server = await endpoint(ok)
  const { stream } = await mounted(
    { baseURL: server.baseURL, apiKeyEnv: 'MY_KEY', headers: { 'x-team': 'blue' } },
    { env: { MY_KEY: 'key-from-env' } },
  )
  await collect(stream())
  expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer key-from-env', 'x-team': 'blue' })
})

test('a key that is named and not set is said before anything is sent', async () => {
  server = await endpoint(ok)
  const { stream } = await mounted({ baseURL: server.baseURL, apiKeyEnv: 'MY_KEY' })
  await expect(collect(stream())).rejects.toMatchObject({
    code: 'LLM_KEY_MISSING',
    message: 'the key of p should be in MY_KEY, which is not set',
  })
  expect(server.seen).toHaveLength(0)
})

test('keys never stand in a failure or a log, even when the endpoint quotes them', async () => {
  const quotes: Handler = (response, { headers, query }) => {
    const message = `bad ${headers.authorization} ${headers['x-key']} ${query}`
    response.writeHead(401).end(JSON.stringify({ error: { message } }))
  }
  const own = await endpoint(quotes)
  server = own
  const headers = { 'x-key': 'secret-key-2' }
  const baseURL = `${own.baseURL.replace('http://', 'http://user:secret-key-4@')}?key=secret-key-3`
  const adapters = [
    await mounted({ baseURL, apiKey: 'secret-key-1', headers }),
    await mounted({ baseURL: baseURL.replace(/:\d+/, ':1'), retriesMax: 0 }),
    await mounted({ baseURL: 'no address with secret-key-5', retriesMax: 0 }),
  ]
  const told: string[] = []
  for (const { ctx, stream } of adapters) {
    ctx.logger.exporter({ levels: { default: 3 }, export: ({ args }) => void told.push(JSON.stringify(args)) })
    const failure = (await collect(stream()).catch((error: unknown) => error)) as Error
    told.push(failure.message, failure.stack ?? '', JSON.stringify(failure), String(failure.cause))
  }
  expect(told[0]).toContain('bad Bearer [hidden] [hidden] ?key=[hidden]')
  for (const text of told) expect(text).not.toMatch(/secret-key-[1-4]/)
})

test('a user and a password in the address go out as basic authorization', async () => {
  server = await endpoint(ok)
  const { stream } = await mounted({ baseURL: `${server.baseURL.replace('http://', 'http://me:p%40ss@')}/?v=2` })
  await collect(stream())
  expect(server.seen[0]).toMatchObject({
    query: '?v=2',
    headers: { authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}` },
  })
})

// BUG-066
test('a tool whose schema cannot be kept goes out with the others, and is warned about once', async () => {
  server = await endpoint(ok)
  const { ctx, stream } = await mounted({ baseURL: server.baseURL })
  const remote = {
    ...tool('remote'),
    parameters: { type: 'object', properties: { a: { $ref: 'https://example.org/a' } } },
  }
  const warnings: string[] = []
  ctx.logger.exporter({ levels: { default: 3 }, export: ({ args }) => void warnings.push(String(args[1])) })
  await collect(stream({ tools: [tool('good'), remote] }))
  await collect(stream({ tools: [tool('good'), remote] }))
  expect(server.seen[1]?.body.tools.map((sent: { function: { name: string } }) => sent.function.name)).toEqual([
    'good',
    'remote',
  ])
  expect(warnings).toEqual([
    expect.stringContaining('the schema of the tool remote: the reference https://example.org/a'),
  ])
})

// BUG-063
test('characters cut between two network packets arrive whole', async () => {
  const bytes = Buffer.from(event(delta({ content: '≤你😀' })) + event(delta({}, 'stop')) + event('[DONE]'))
  server = await endpoint((response) => {
    head(response)
    let at = 0
    const next = () => {
      if (at >= bytes.length) return void response.end()
      response.write(bytes.subarray(at, ++at), () => setImmediate(next))
    }
    next()
  })
  const { stream } = await mounted({ baseURL: server.baseURL })
  expect(textOf(await collect(stream()))).toBe('≤你😀')
})

test('usage and reasoning arrive as such', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } }
  server = await endpoint(
    sends(delta({ reasoning_content: 'hm' }), delta({ content: 'x' }, 'stop'), { choices: [], usage }),
  )
  const { stream } = await mounted({ baseURL: server.baseURL })
  expect(await collect(stream())).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'x' },
    { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 } },
  ])
})

test('unloading the plugin ends its streams, hangs up and leaves no provider behind', async () => {
  server = await endpoint((response) => {
    head(response)
    response.write(event(delta({ content: 'a' })))
  })
  const { ctx, fiber, stream } = await mounted({ baseURL: server.baseURL })
  const iterator = stream()[Symbol.asyncIterator]()
  await iterator.next()
  const rest = iterator.next()
  const { hungUp } = await server.request(1)
  await fiber.dispose()
  await expect(rest).rejects.toMatchObject({ code: 'LLM_NO_ADAPTER' })
  await hungUp
  expect(ctx.llm.providers()).toEqual([])
})

test.each([
  ['a provider with a slash', { provider: 'a/b', baseURL: 'http://x' }],
  ['no address', { provider: 'p' }],
  ['an unknown reasoning mode', { provider: 'p', baseURL: 'http://x', reasoning: 'maybe' as 'send' }],
])('a configuration with %s is refused', async (_, config) => {
  await expect(mounted(config)).rejects.toThrow()
})
