import { llmErrors } from '@sluice/llm'
import { probeTool } from '@sluice/testkit'
import { describe, expect, test } from 'vitest'
import { expectSettled, lines, mount, tool } from './harness.ts'

describe('calls', () => {
  // BUG-074
  test('calls of a message that is cut off are not run, and the model is told to send smaller ones', async () => {
    const probe = probeTool()
    const cut = {
      calls: [
        { name: 'probe', id: 'c1', args: { ok: 1 } },
        { name: 'probe', id: 'c2', argumentsText: '{"path":"a","content":"xx' },
      ],
    }
    const m = await mount([{ ...cut, finish: 'length' }, 'smaller then'], { tools: [probe.definition] })
    expect((await m.agent.send('write')).reason).toBe('completed')
    expect(probe.runs).toBe(0)
    const results = m.events('tool/result')
    expect(results.map(({ data }) => data.outcome.executed)).toEqual(['no', 'no'])
    for (const { data } of results)
      expect(JSON.stringify(data.content)).toMatch(/output limit.*none of its calls was run; send a smaller message/)
    expectSettled(m.session)
  })

  // BUG-074
  test('calls of a stream that breaks, or ends without saying how, are not run', async () => {
    const probe = probeTool()
    const calls = [{ name: 'probe', args: { ok: 1 } }]
    const error = llmErrors('LLM_BROKEN', { url: 'http://sim', problem: 'socket closed' })
    const m = await mount(
      [
        { calls, error },
        { calls, breakAfter: 2 },
        { calls, finish: 'filter' },
        { calls, finish: 'error' },
      ],
      {
        tools: [probe.definition],
      },
    )
    for (const prompt of ['1', '2', '3', '4']) expect((await m.agent.send(prompt)).reason).toBe('error')
    expect(probe.runs).toBe(0)
    expect(m.events('tool/result')).toHaveLength(4)
    expectSettled(m.session)
  })

  // BUG-074
  test('empty argument text of a whole message runs with no arguments', async () => {
    const probe = probeTool()
    const m = await mount([{ calls: [{ name: 'probe', argumentsText: '' }] }, 'ok'], { tools: [probe.definition] })
    await m.agent.send('go')
    expect(probe.args).toEqual([{}])
  })

  test('a model that is cut off again and again ends the turn with length', async () => {
    const cut = { calls: [{ name: 'probe' }], finish: 'length' as const }
    const m = await mount([cut, cut, cut], { tools: [probeTool().definition], config: { cutOffsMax: 2 } })
    expect(await m.agent.send('write')).toMatchObject({ reason: 'length' })
    expect(m.model.requests).toHaveLength(3)
    expectSettled(m.session)
  })

  test('a call id that was used before is replaced in message and result, and kept as data', async () => {
    const probe = probeTool()
    const m = await mount(
      [
        {
          calls: [
            { name: 'probe', id: 'c1' },
            { name: 'probe', id: 'c1' },
          ],
        },
        { calls: [{ name: 'probe', id: 'c1' }] },
        'ok',
      ],
      { tools: [probe.definition] },
    )
    await m.agent.send('go')
    expect(probe.runs).toBe(3)
    expect(m.events('assistant/message').map(({ data }) => data.originalIds)).toEqual([
      { 1: 'c1' },
      { 0: 'c1' },
      undefined,
    ])
    expectSettled(m.session)
  })

  // BUG-007
  test('a failed request after a settled call is made again without running the call again', async () => {
    const probe = probeTool()
    const error = llmErrors('LLM_REFUSED', { url: 'http://sim', status: 500, body: 'later' })
    const m = await mount([{ calls: [{ name: 'probe', id: 'c1' }] }, { error }, { error }, 'done'], {
      tools: [probe.definition],
    })
    expect((await m.agent.send('pay')).reason).toBe('error')
    m.agent.inject('try again', 'test')
    expect((await m.agent.send('go on')).reason).toBe('error')
    expect(await m.agent.send('go on')).toMatchObject({ reason: 'completed', text: 'done' })
    expect(probe.runs).toBe(1)
    expect(m.events('tool/result')).toHaveLength(1)
    const first = m.model.requests[1]?.messages ?? []
    expect(first).toHaveLength(3)
    for (const { messages } of m.model.requests.slice(2)) {
      expect(JSON.stringify(messages.slice(0, 3))).toBe(JSON.stringify(first))
    }
    expectSettled(m.session)
  })

  // BUG-009
  test('contexts of a batch, then queued input, follow its last result', async () => {
    const m = await mount(
      [
        {
          calls: [
            { name: 'a', id: 'c1' },
            { name: 'b', id: 'c2' },
          ],
        },
        'ok',
      ],
      {
        tools: [tool('a', () => 'A'), tool('b', () => m.agent.steer('and hurry') ?? 'B')],
      },
    )
    m.ctx.on('tools/post-execute', async (call, _result, next) => {
      const verdict = await next()
      return call.tool === 'a' ? { ...verdict, contexts: ['a note about a'] } : verdict
    })
    await m.agent.send('go')
    expect(lines(m.session)).toEqual([
      'user: go',
      'assistant: call c1 call c2',
      'result c1: A',
      'result c2: B',
      'user: a note about a',
      'user: and hurry',
      'assistant: ok',
    ])
    expectSettled(m.session)
  })
})
