import type { ModelAdapter, ModelRequest, StreamPart } from '@sluice/llm'
import { Context } from 'cordis'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as llm from '@sluice/llm'

let ctx: Context
beforeEach(async () => {
  ctx = new Context()
  await ctx.plugin(llm)
})
afterEach(() => ctx.fiber.dispose())

const request = (model: string, signal = new AbortController().signal): ModelRequest => ({
  model,
  system: '',
  messages: [],
  tools: [],
  signal,
})

/** Mounts an adapter in a plugin of its own and gives the means to take it away. */
async function mount(provider: string, adapter: ModelAdapter) {
  return ctx.plugin({
    name: `adapter-${provider}`,
    inject: ['llm'],
    apply: (c) => void c.llm.register(provider, adapter),
  })
}

const adapterOf = (parts: readonly unknown[], then?: () => Promise<never>): ModelAdapter => ({
  async *stream() {
    for (const part of parts) yield part as StreamPart
    await then?.()
  },
})

async function collect(stream: AsyncIterable<StreamPart>): Promise<StreamPart[]> {
  const parts: StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

/** Runs one scripted stream through `ctx.llm`. */
async function through(parts: readonly unknown[], then?: () => Promise<never>): Promise<StreamPart[]> {
  await mount('p', adapterOf(parts, then))
  return collect(ctx.llm.stream(request('p/m')))
}

test('a model is served by the adapter of its provider, and its name may hold slashes', async () => {
  const seen: string[] = []
  const adapter: ModelAdapter = {
    async *stream(given) {
      seen.push(given.model)
      yield { type: 'finish', reason: 'stop' }
    },
  }
  await mount('one', adapterOf([]))
  await mount('two', adapter)
  await collect(ctx.llm.stream(request('two/org/name')))
  expect(seen).toEqual(['two/org/name'])
  expect(llm.modelName('two/org/name')).toEqual({ provider: 'two', model: 'org/name' })
  expect(ctx.llm.providers()).toEqual(['one', 'two'])
})

test('a model whose provider nobody serves is refused, naming who is mounted', async () => {
  await mount('one', adapterOf([]))
  expect(() => ctx.llm.stream(request('toString/x'))).toThrow('no adapter serves the model toString/x (mounted: one)')
  for (const model of ['one', 'one/', '', '/one']) {
    expect(() => ctx.llm.stream(request(model))).toThrow(expect.objectContaining({ code: 'LLM_NO_ADAPTER' }))
  }
})

test('a provider is served by one adapter at a time', async () => {
  await mount('p', adapterOf([]))
  await expect(mount('p', adapterOf([]))).rejects.toMatchObject({ code: 'LLM_PROVIDER_TAKEN' })
})

test('a stream ends with exactly one finish, and nothing after it is passed on', async () => {
  const parts = await through([
    { type: 'text', text: 'a' },
    { type: 'finish', reason: 'stop' },
    { type: 'text', text: 'late' },
    { type: 'finish', reason: 'length' },
  ])
  expect(parts).toEqual([
    { type: 'text', text: 'a' },
    { type: 'finish', reason: 'stop' },
  ])
})

test('a stream that ends without a finish is incomplete', async () => {
  expect(await through([{ type: 'text', text: 'a' }])).toEqual([
    { type: 'text', text: 'a' },
    { type: 'finish', reason: 'incomplete' },
  ])
})

test('a stop after tool calls is a finish for tool calls', async () => {
  const call = { type: 'tool-call', id: 'c1', name: 'read', argumentsText: '{}' }
  expect((await through([call, { type: 'finish', reason: 'stop' }])).at(-1)).toMatchObject({ reason: 'tool-calls' })
})

test('a finish for tool calls that never came is incomplete', async () => {
  expect(await through([{ type: 'finish', reason: 'tool-calls' }])).toEqual([{ type: 'finish', reason: 'incomplete' }])
})

// BUG-075
test('half a character is replaced, a whole one cut between two pieces is kept', async () => {
  const parts = await through([
    { type: 'text', text: '현\ud99c' },
    { type: 'text', text: '' },
    { type: 'reasoning', text: '\udc00x' },
    { type: 'text', text: 'ok \ud83d' },
    { type: 'text', text: '\ude00!' },
    { type: 'tool-call', id: 'c\ud83d', name: 'r\udc00', argumentsText: '{"a\ud83d":"😀"}' },
    { type: 'text', text: 'end\ud83d' },
    { type: 'finish', reason: 'stop' },
  ])
  expect(parts).toEqual([
    { type: 'text', text: '현' },
    { type: 'text', text: '\ufffd' },
    { type: 'reasoning', text: '\ufffdx' },
    { type: 'text', text: 'ok ' },
    { type: 'text', text: '😀!' },
    { type: 'tool-call', id: 'c\ufffd', name: 'r\ufffd', argumentsText: '{"a\ufffd":"😀"}' },
    { type: 'text', text: 'end' },
    { type: 'text', text: '\ufffd' },
    { type: 'finish', reason: 'tool-calls' },
  ])
})

test.each([
  ['no object', 'text'],
  ['an unknown type', { type: 'sound', text: '' }],
  ['a text that is no string', { type: 'text', text: 1 }],
  ['a call without an id', { type: 'tool-call', id: '', name: 'read', argumentsText: '{}' }],
  ['a call with parsed arguments', { type: 'tool-call', id: 'c', name: 'read', argumentsText: {} }],
  ['an unknown finish reason', { type: 'finish', reason: 'bored' }],
])('a part that is %s is refused, naming the provider', async (_, part) => {
  const failure = await through([part]).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'LLM_PART_INVALID', data: { provider: 'p' } })
})

test('usage keeps the counts that make sense and drops the rest', async () => {
  const usage = { inputTokens: 3, outputTokens: Number.NaN, cachedInputTokens: -1, other: 5 }
  expect(await through([{ type: 'finish', reason: 'length', usage }])).toEqual([
    { type: 'finish', reason: 'length', usage: { inputTokens: 3 } },
  ])
})

test('a failure of the adapter reaches the reader after the parts before it', async () => {
  const failure = llm.llmErrors('LLM_BROKEN', { url: 'u', problem: 'reset' })
  await mount(
    'p',
    adapterOf([{ type: 'text', text: 'a' }], () => Promise.reject(failure)),
  )
  const parts: StreamPart[] = []
  const reading = (async () => {
    for await (const part of ctx.llm.stream(request('p/m'))) parts.push(part)
  })()
  await expect(reading).rejects.toBe(failure)
  expect(parts).toEqual([{ type: 'text', text: 'a' }])
})

test('an abort ends the stream at once, even when the adapter never notices', async () => {
  const early = new AbortController()
  const late = new AbortController()
  const hang = () => {
    // Nobody reads the signal; the reader is already waiting.
    setImmediate(() => late.abort())
    return new Promise<never>(() => undefined)
  }
  await mount('p', adapterOf([{ type: 'text', text: 'a' }], hang))
  for (const controller of [early, late]) {
    const parts: StreamPart[] = []
    for await (const part of ctx.llm.stream(request('p/m', controller.signal))) {
      parts.push(part)
      early.abort()
    }
    expect(parts).toEqual([
      { type: 'text', text: 'a' },
      { type: 'finish', reason: 'aborted' },
    ])
  }
})

test('a request that is aborted before it starts never reaches the adapter', async () => {
  let asked = false
  await mount('p', {
    stream() {
      asked = true
      return adapterOf([]).stream(request('p/m'))
    },
  })
  const parts = await collect(ctx.llm.stream(request('p/m', AbortSignal.abort())))
  expect(parts).toEqual([{ type: 'finish', reason: 'aborted' }])
  expect(asked).toBe(false)
})

test('a reader that stops early ends the stream of the adapter and fires its signal', async () => {
  let ended: (aborted: boolean) => void
  const end = new Promise<boolean>((resolve) => (ended = resolve))
  await mount('p', {
    async *stream({ signal }) {
      signal.addEventListener('abort', () => ended(true))
      yield { type: 'text', text: 'a' }
      yield { type: 'text', text: 'b' }
    },
  })
  for await (const part of ctx.llm.stream(request('p/m'))) if (part.type === 'text') break
  expect(await end).toBe(true)
})

test('whoever asks for several parts at once gets them in order, and nothing after the end', async () => {
  await mount(
    'p',
    adapterOf([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b\ud83d' },
      { type: 'finish', reason: 'stop' },
    ]),
  )
  const stream = ctx.llm.stream(request('p/m'))[Symbol.asyncIterator]()
  const all = await Promise.all(Array.from({ length: 6 }, () => stream.next()))
  expect(all).toEqual([
    { done: false, value: { type: 'text', text: 'a' } },
    { done: false, value: { type: 'text', text: 'b' } },
    { done: false, value: { type: 'text', text: '\ufffd' } },
    { done: false, value: { type: 'finish', reason: 'stop' } },
    { done: true, value: undefined },
    { done: true, value: undefined },
  ])
})

test('a reader that leaves while it waits gets no part any more', async () => {
  await mount(
    'p',
    adapterOf([{ type: 'text', text: 'a' }], () => new Promise<never>(() => undefined)),
  )
  const stream = ctx.llm.stream(request('p/m'))[Symbol.asyncIterator]()
  await stream.next()
  const waiting = stream.next()
  await stream.return?.()
  expect([await waiting, await stream.next()]).toEqual(Array(2).fill({ done: true, value: undefined }))
})

test('who has left a stream is given nothing more of it, not even what has come already', async () => {
  const call = { type: 'tool-call', id: 'c', name: 'read', argumentsText: '{}' } as const
  const fiber = await mount('p', adapterOf([{ type: 'text', text: 'a\ud83d' }, call]))
  const stream = ctx.llm.stream(request('p/m'))[Symbol.asyncIterator]()
  await stream.next()
  expect((await stream.next()).value).toEqual({ type: 'text', text: '\ufffd' })
  const other = ctx.llm.stream(request('p/m'))[Symbol.asyncIterator]()
  await other.next()
  await fiber.dispose()
  for (const left of [stream, other]) {
    await left.return?.()
    expect(await left.next()).toEqual({ done: true, value: undefined })
  }
})

test('an adapter that throws at once fails the stream as one that rejects, and is left clean', async () => {
  const problem = new Error('no stream')
  const fail = () => {
    throw problem
  }
  await mount('open', { stream: fail })
  await mount('next', { stream: () => ({ [Symbol.asyncIterator]: () => ({ next: fail, return: fail }) }) })
  for (const provider of ['open', 'next']) {
    const stream = ctx.llm.stream(request(`${provider}/m`))[Symbol.asyncIterator]()
    await expect(stream.next()).rejects.toBe(problem)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  }
})

test('an adapter that is unmounted ends its running streams and serves nobody any more', async () => {
  const fiber = await mount(
    'p',
    adapterOf([{ type: 'text', text: 'a' }], () => new Promise<never>(() => undefined)),
  )
  const stream = ctx.llm.stream(request('p/m'))[Symbol.asyncIterator]()
  expect((await stream.next()).value).toEqual({ type: 'text', text: 'a' })
  const rest = stream.next()
  await fiber.dispose()
  await expect(rest).rejects.toMatchObject({ code: 'LLM_NO_ADAPTER' })
  expect(ctx.llm.providers()).toEqual([])
  await mount('p', adapterOf([]))
  expect(ctx.llm.providers()).toEqual(['p'])
})

test('unloading the plugin takes ctx.llm away and leaves nothing behind', async () => {
  const own = new Context()
  const fiber = await own.plugin(llm)
  const before = own.fiber.getEffects().length
  expect(own.get('llm')).toBeDefined()
  await fiber.dispose()
  expect(own.get('llm')).toBeUndefined()
  expect(own.fiber.getEffects().length).toBeLessThan(before)
})
