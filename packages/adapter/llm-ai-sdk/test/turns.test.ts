import * as agent from '@sluice/agent'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { probeTool } from '@sluice/testkit'
import * as tools from '@sluice/tools'
import { afterEach, expect, test } from 'vitest'
import { calls, delta, type Endpoint, endpoint, event, type Handler, head, sends } from './endpoint.ts'
import { mounted } from './mounted.ts'

let server: Endpoint | undefined
afterEach(() => server?.close())

interface WireMessage {
  readonly role: string
  readonly content: string | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
}

/** What a strict endpoint asks of a request: each call answered once, at once, in order; arguments that are objects. */
function strictlyAccepted(messages: readonly WireMessage[]): void {
  const left = [...messages]
  for (let message = left.shift(); message !== undefined; message = left.shift()) {
    expect(message.role).not.toBe('tool')
    for (const call of message.tool_calls ?? []) {
      expect(left.shift()).toMatchObject({ role: 'tool', tool_call_id: call.id, content: expect.stringMatching(/./) })
      expect(JSON.parse(call.function.arguments)).toEqual(expect.any(Object))
    }
  }
}

/** An agent whose model is the endpoint, with a probe that takes a path and a content. */
async function driven(...handlers: Handler[]) {
  server = await endpoint(...handlers)
  const { ctx } = await mounted({ baseURL: server.baseURL, retriesMax: 2 })
  for (const plugin of [memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(agent)
  const required = probeTool({
    name: 'write',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path', 'content'],
    },
  })
  const free = probeTool()
  await ctx.plugin({
    name: 'probes',
    inject: ['tools'],
    apply(own) {
      own.tools.register(required.definition)
      own.tools.register(free.definition)
    },
  })
  const log = await ctx.sessions.create({ cwd: '/' })
  const one = ctx.agents.create({ session: log, model: 'p/m' })
  const results = () =>
    log.events.filter(({ type }) => type === 'tool/result').map(({ data }) => data as unknown as session.ToolResultData)
  return { server, log, agent: one, required, free, results }
}

const write = (index: number, args: string) => ({
  index,
  id: `c${index}`,
  function: { name: 'write', arguments: args },
})
const whole = '{"path":"a","content":"x"}'
const cut = '{"path":"a","content":"xx'
const done = sends(delta({ content: 'done' }), delta({}, 'stop'))

// BUG-074
test.each<[string, Handler, readonly string[]]>([
  ['arguments cut by length', sends(calls(write(0, cut)), delta({}, 'length')), ['c0']],
  [
    'whole arguments without a required field, cut by length',
    sends(calls(write(0, '{"path":"a"}')), delta({}, 'length')),
    ['c0'],
  ],
  [
    'one whole call and one cut by length',
    sends(calls(write(0, whole), write(1, cut)), delta({}, 'length')),
    ['c0', 'c1'],
  ],
])('%s: nothing runs, each call is told so, and the next request is accepted', async (_, first, ids) => {
  const { server, agent, required, results } = await driven(first, done)
  expect(await agent.send('go')).toMatchObject({ reason: 'completed', text: 'done' })
  expect(required.runs).toBe(0)
  expect(results().map((data) => [data.callId, data.outcome.executed])).toEqual(ids.map((id) => [id, 'no']))
  for (const { content } of results()) expect(JSON.stringify(content)).toContain('none of its calls was run')
  strictlyAccepted(server.seen[1]?.body.messages as WireMessage[])
})

// BUG-074, BUG-086
test('a connection that breaks in the middle of a call runs nothing, and the session goes on', async () => {
  const breaks: Handler = (response) => {
    head(response)
    response.write(event(delta({ content: 'I write.' })))
    response.write(event(calls(write(0, cut))), () => setImmediate(() => response.destroy()))
  }
  const { server, agent, required, log } = await driven(breaks, done)
  expect(await agent.send('go')).toMatchObject({ reason: 'error', code: 'LLM_BROKEN' })
  expect(await agent.send('go on')).toMatchObject({ reason: 'completed' })
  expect(required.runs).toBe(0)
  expect(log.events.filter(({ type }) => type === 'assistant/message')).toHaveLength(2)
  const messages = server.seen[1]?.body.messages as WireMessage[]
  strictlyAccepted(messages)
  expect(messages.map(({ content }) => content)).toContain('I write.')
})

// BUG-074
test('a call without argument text and a normal end runs with an empty object', async () => {
  const { agent, free, server } = await driven(
    sends(calls({ index: 0, id: 'c0', function: { name: 'probe', arguments: '' } }), delta({}, 'tool_calls')),
    done,
  )
  expect(await agent.send('go')).toMatchObject({ reason: 'completed' })
  expect(free.args).toEqual([{}])
  strictlyAccepted(server.seen[1]?.body.messages as WireMessage[])
})

// BUG-007
test('a request that fails after a call is tried again with the same messages, and the call is not', async () => {
  const fails: Handler = (response) => void response.writeHead(500).end('{}')
  const { agent, free, server, results } = await driven(
    sends(calls({ index: 0, id: 'c0', function: { name: 'probe', arguments: '{}' } }), delta({}, 'tool_calls')),
    fails,
    fails,
    done,
  )
  expect(await agent.send('go')).toMatchObject({ reason: 'completed' })
  expect(free.runs).toBe(1)
  expect(results()).toHaveLength(1)
  const [, second, third, fourth] = server.seen.map(({ text }) => text)
  expect(third).toBe(second)
  expect(fourth).toBe(second)
})

// BUG-075
test('half characters of a model do no harm to the next request', async () => {
  const { agent, server } = await driven(
    sends(
      delta({ content: '현\ud99c' }),
      calls({
        index: 0,
        id: 'c0',
        function: { name: 'probe', arguments: '{"\udc00x":"a\ud83d","ok":"😀","e":"\\ud83d"}' },
      }),
      delta({}, 'tool_calls'),
    ),
    done,
  )
  expect(await agent.send('a\ud83d')).toMatchObject({ reason: 'completed' })
  const { text, body } = server.seen[1] as (typeof server.seen)[number]
  strictlyAccepted(body.messages as WireMessage[])
  expect(text.isWellFormed()).toBe(true)
  expect(text).not.toMatch(/\\ud[89a-f]/i)
  expect(body.messages.at(-2).tool_calls[0].function.arguments).toBe('{"\ufffdx":"a\ufffd","ok":"😀","e":"\ufffd"}')
})
