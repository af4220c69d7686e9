import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { calls, delta, type Endpoint, endpoint, event, head, sends } from './endpoint.ts'
import { callsOf, collect, mounted, tool } from './mounted.ts'

let server: Endpoint | undefined
afterEach(() => server?.close())

const tools = ['read', 'write', 'read_file'].map(tool)

/** What one event stream comes to, over real HTTP. */
async function through(...chunks: unknown[]) {
  server = await endpoint(sends(...chunks))
  const { stream } = await mounted({ baseURL: server.baseURL, retriesMax: 0 })
  return collect(stream({ tools }))
}

const fn = (name?: string | null, args?: string | null) => ({ function: { name, arguments: args } })
const done = delta({}, 'tool_calls')
const A = { type: 'tool-call', id: 'A', name: 'read', argumentsText: '{"path":"a"}' }
const B = { type: 'tool-call', id: 'B', name: 'write', argumentsText: '{"path":"b"}' }

// BUG-085
test.each<[string, unknown[]]>([
  [
    'both at index 0, each with its own id',
    [
      calls({ index: 0, id: 'A', ...fn('read', '{"path":') }),
      calls({ index: 0, ...fn(null, '"a"}') }),
      calls({ index: 0, id: 'B', ...fn('write', '{"path":') }),
      calls({ index: 0, ...fn(null, '"b"}') }),
    ],
  ],
  [
    'without any index',
    [
      calls({ id: 'A', ...fn('read', '{"path":') }),
      calls({ ...fn(undefined, '"a"}') }),
      calls({ id: 'B', ...fn('write', '{"path":') }),
      calls({ ...fn(undefined, '"b"}') }),
    ],
  ],
  [
    'with the index null, named by id each time',
    [
      calls({ index: null, id: 'A', ...fn('read', '{"path":') }),
      calls({ index: null, id: 'B', ...fn('write', '{"path":') }),
      calls({ index: null, id: 'A', ...fn(null, '"a"}') }),
      calls({ index: null, id: 'B', ...fn('', '"b"}') }),
    ],
  ],
  [
    'interleaved by index, with the id on the first piece only',
    [
      calls({ index: 0, id: 'A', ...fn('read', '') }),
      calls({ index: 1, id: 'B', ...fn('write', '') }),
      calls({ index: 0, ...fn(null, '{"path":') }, { index: 1, ...fn(null, '{"path":') }),
      calls({ index: 1, ...fn(null, '"b"}') }),
      calls({ index: 0, ...fn(null, '"a"}') }),
    ],
  ],
  [
    'with indices that start late and run backwards',
    [
      calls({ index: 7, id: 'A', ...fn('read', '{"path":"a"}') }),
      calls({ index: 3, id: 'B', ...fn('write', '{"path":"b"}') }),
    ],
  ],
  [
    'with the name after the arguments',
    [
      calls({ index: 0, id: 'A', ...fn(null, '{"path":"a"}') }),
      calls({ index: 1, id: 'B', ...fn(undefined, '{"path":"b"}') }),
      calls({ index: 0, ...fn('read') }),
      calls({ index: 1, ...fn('write') }),
    ],
  ],
  [
    'with the name in pieces',
    [
      calls({ index: 0, id: 'A', ...fn('re') }),
      calls({ index: 0, ...fn('ad', '{"path":"a"}') }),
      calls({ index: 1, id: 'B', ...fn('wr', '') }),
      calls({ index: 1, ...fn('ite', '') }),
      calls({ index: 1, ...fn(null, '{"path":"b"}') }),
    ],
  ],
  [
    'with the name and id repeated in every piece',
    [
      calls({ index: 0, id: 'A', ...fn('read', '{"path"') }),
      calls({ index: 0, id: 'A', ...fn('read', ':"a"}') }),
      calls({ index: 1, id: 'B', ...fn('write', '{"path"') }),
      calls({ index: 1, id: 'B', ...fn('write', ':"b"}') }),
    ],
  ],
  [
    'with an index that runs on with every piece',
    [
      calls({ index: 0, id: 'A', ...fn('read', '{"path"') }),
      calls({ index: 1, id: 'A', ...fn(null, ':"a"}') }),
      calls({ index: 2, id: 'B', ...fn('write', '{"path"') }),
      calls({ index: 3, id: 'B', ...fn(null, ':"b"}') }),
    ],
  ],
  [
    'with the id after the name',
    [
      calls({ index: 0, ...fn('read', '') }),
      calls({ index: 0, id: 'A', ...fn(null, '{"path":"a"}') }),
      calls({ index: 1, ...fn('write', '') }),
      calls({ index: 1, id: 'B', ...fn(null, '{"path":"b"}') }),
    ],
  ],
  [
    'with indices as text, arguments as a value, and usage, choices and fields that are odd',
    [
      { id: null, choices: [], usage: null, prompt_filter_results: [{}] },
      { ...calls({ index: '0', id: 'A', ...fn('read', '{"path":"a"}'), extra: 1 }), usage: null, extra: {} },
      { usage: { prompt_tokens: 'many' } },
      delta({
        role: 'model',
        tool_calls: [{ index: '1', id: 'B', function: { name: 'write', arguments: { path: 'b' } } }],
      }),
      delta({ tool_calls: null, content: null }),
      delta({ tool_calls: [null, {}, { index: 5 }, { index: 1, function: null }] }),
    ],
  ],
])('two calls %s come out as two whole calls in the order first seen', async (_, chunks) => {
  const parts = await through(...chunks, done)
  expect(callsOf(parts)).toEqual([A, B])
  expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool-calls' })
})

// BUG-085
test('a whole call in one piece with finish "stop" is a call', async () => {
  const parts = await through(delta({ tool_calls: [{ index: 0, id: 'A', ...fn('read', '{"path":"a"}') }] }, 'stop'))
  expect(parts).toEqual([
    { type: 'tool-call-started', id: 'A', name: 'read' },
    A,
    { type: 'finish', reason: 'tool-calls' },
  ])
})

// BUG-085
test('calls without ids get minted ones, each its own', async () => {
  const parts = await through(
    calls({ index: 0, ...fn('read', '{"path":"a"}') }),
    calls({ index: 0, ...fn('write', '{"path":"b"}') }),
    calls({ ...fn('read', '{}') }),
    done,
  )
  const got = callsOf(parts)
  expect(got.map(({ name, argumentsText }) => [name, argumentsText])).toEqual([
    ['read', '{"path":"a"}'],
    ['write', '{"path":"b"}'],
    ['read', '{}'],
  ])
  expect(new Set(got.map((call) => call.id)).size).toBe(3)
  for (const call of got) expect(call.id).toMatch(/^call_/)
})

test('two calls with the same id at different indices stay two calls', async () => {
  const parts = await through(
    calls({ index: 0, id: 'A', ...fn('read', '{"path":"a"}') }),
    calls({ index: 1, id: 'A', ...fn('write', '{"path":"b"}') }),
    done,
  )
  expect(callsOf(parts).map((call) => call.argumentsText)).toEqual(['{"path":"a"}', '{"path":"b"}'])
})

// BUG-074
test('a call without argument text comes out with empty argument text', async () => {
  const parts = await through(calls({ index: 0, id: 'A', function: { name: 'read' } }), done)
  expect(callsOf(parts)).toEqual([{ type: 'tool-call', id: 'A', name: 'read', argumentsText: '' }])
})

// BUG-085
test.each<[string, unknown[], string]>([
  ['arguments that belong to no call', [calls({ ...fn(null, '{"path":"a"}') })], 'belongs to no call'],
  ['a call that never gets a name', [calls({ index: 0, id: 'A', ...fn(null, '{}') })], 'has no name'],
  [
    'a name that changes after the call was told',
    [calls({ index: 0, id: 'A', ...fn('read', '{') }), calls({ index: 0, ...fn('_all', '}') })],
    'changed',
  ],
])('%s fail the whole answer', async (_, chunks, problem) => {
  const failure = await through(...chunks, done).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'LLM_BROKEN', message: expect.stringContaining(problem) as string })
})

test('more calls than can be meant fail the whole answer', async () => {
  const many = Array.from({ length: 257 }, (_, index) => ({ index, id: `c${index}`, ...fn('read', '{}') }))
  await expect(through(calls(...many), done)).rejects.toThrow('more than 256 tool calls')
})

// BUG-074
test.each<[string, (response: ServerResponse) => void, string]>([
  ['by length', (response) => response.end(event(delta({}, 'length')) + event('[DONE]')), 'length'],
  ['without a terminal event', (response) => response.end(), 'incomplete'],
  ['by a filter', (response) => response.end(event(delta({}, 'content_filter')) + event('[DONE]')), 'filter'],
  ['for an unknown reason', (response) => response.end(event(delta({}, 'shortage')) + event('[DONE]')), 'error'],
])('an answer cut off %s says so and gives its calls as far as they came', async (_, end, reason) => {
  server = await endpoint((response) => {
    head(response)
    response.write(event(calls({ index: 0, id: 'A', ...fn('read', '{"path":"a"}') })))
    response.write(event(calls({ index: 1, id: 'B', ...fn('write', '{"path":"b","content":"xx') })))
    response.write(event(calls({ index: 2, id: 'C', ...fn(null, '{') })))
    end(response)
  })
  const { stream } = await mounted({ baseURL: server.baseURL, retriesMax: 0 })
  const parts = await collect(stream({ tools }))
  expect(callsOf(parts)).toEqual([A, { ...B, argumentsText: '{"path":"b","content":"xx' }])
  expect(parts.at(-1)).toEqual({ type: 'finish', reason })
})
