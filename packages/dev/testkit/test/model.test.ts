import type { Message, ModelRequest, StreamPart } from '@sluice/llm'
import { describe, expect, it } from 'vitest'
import { assertPaired, scriptedModel } from '../src/index.ts'

const request = (messages: readonly Message[] = [], signal = new AbortController().signal): ModelRequest => ({
  model: 'test/model',
  system: '',
  messages,
  tools: [],
  signal,
})

async function collect(stream: AsyncIterable<StreamPart>): Promise<StreamPart[]> {
  const parts: StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

const call = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'probe', argumentsText: '{}' })),
})
const answer = (callId: string): Message => ({ role: 'tool', callId, tool: 'probe', content: [], isError: false })
const user: Message = { role: 'user', content: [{ type: 'text', text: 'hi' }] }

describe('the scripted model', () => {
  it('streams text, calls and a finish reason that fits', async () => {
    const model = scriptedModel([{ text: ['a', 'b'], calls: [{ name: 'probe', args: { n: 1 } }] }, 'done'])
    expect(await collect(model.stream(request()))).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'tool-call-started', id: 'call_1_1', name: 'probe' },
      { type: 'tool-call', id: 'call_1_1', name: 'probe', argumentsText: '{"n":1}' },
      { type: 'finish', reason: 'tool-calls' },
    ])
    expect((await collect(model.stream(request()))).at(-1)).toEqual({ type: 'finish', reason: 'stop' })
    expect(model.requests).toHaveLength(2)
    model.verify()
  })

  it('breaks off, fails, or hangs until it is aborted', async () => {
    const controller = new AbortController()
    const model = scriptedModel([{ text: ['a', 'b'], breakAfter: 1 }, { error: new Error('down') }, { hang: true }])
    expect(await collect(model.stream(request()))).toEqual([{ type: 'text', text: 'a' }])
    await expect(collect(model.stream(request()))).rejects.toThrow('down')
    const hanging = collect(model.stream(request([], controller.signal)))
    controller.abort(new Error('enough'))
    await expect(hanging).rejects.toThrow('enough')
  })

  it('refuses a request beyond its script and remembers it', async () => {
    const model = scriptedModel([])
    await expect(collect(model.stream(request()))).rejects.toThrow('the script has 0 steps')
    expect(() => model.verify()).toThrow('the script has 0 steps')
  })

  it('refuses a history that a strict provider would refuse', async () => {
    const model = scriptedModel(['never'])
    await expect(collect(model.stream(request([user, call('a')])))).rejects.toThrow('should answer the call a')
    expect(() => model.verify()).toThrow('strict provider')
  })
})

describe('assertPaired', () => {
  it.each<[string, Message[]]>([
    ['a call without an answer', [call('a')]],
    ['a call answered twice', [call('a'), answer('a'), answer('a')]],
    ['answers out of request order', [call('a', 'b'), answer('b'), answer('a')]],
    ['an answer after another message', [call('a'), user, answer('a')]],
    ['an answer nobody asked for', [user, answer('a')]],
    ['an id used twice', [call('a'), answer('a'), call('a'), answer('a')]],
    ['half a surrogate pair', [{ role: 'user', content: [{ type: 'text', text: 'x\ud83d' }] }]],
  ])('refuses %s', (_, messages) => {
    expect(() => assertPaired(messages)).toThrow('a strict provider refuses')
  })

  it('accepts each call answered once, right after its message, in order', () => {
    const emoji: Message = { role: 'user', content: [{ type: 'text', text: '\\ud83d 😀' }] }
    expect(() => assertPaired([emoji, call('a', 'b'), answer('a'), answer('b'), call('c'), answer('c')])).not.toThrow()
  })
})
