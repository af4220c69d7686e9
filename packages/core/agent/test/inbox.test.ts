import { describe, expect, test } from 'vitest'
import { INBOX_MAX } from '../src/inbox.ts'
import { expectSettled, lines, mount, tool } from './harness.ts'

describe('inbox', () => {
  test('prompts sent at once are played one turn after another, each with its own result', async () => {
    const m = await mount(['one', 'two', 'three'])
    const results = await Promise.all(['a', 'b', 'c'].map((text) => m.agent.send(text)))
    expect(results.map(({ turn, text }) => [turn, text])).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ])
  })

  test('a prompt sent by whoever awaited the last turn starts the next one', async () => {
    const m = await mount(['one', 'two'])
    const second = m.agent.send('a').then(() => m.agent.send('b'))
    expect((await second).text).toBe('two')
  })

  test('steering joins the running turn at its next step', async () => {
    const m = await mount([{ calls: [{ name: 'look', id: 'c1' }] }, 'seen'], {
      tools: [tool('look', () => m.agent.steer('also check b', 'editor') ?? 'a')],
    })
    expect((await m.agent.send('look')).turn).toBe(1)
    expect(lines(m.session)).toEqual([
      'user: look',
      'assistant: call c1',
      'result c1: a',
      'user: also check b',
      'assistant: seen',
    ])
    expect(m.events('user/message')[1]?.data.source).toBe('editor')
  })

  test('steering that arrives with the last answer keeps the turn going', async () => {
    const m = await mount([() => (m.agent.steer('one more thing'), 'done'), 'done too'])
    expect(await m.agent.send('go')).toMatchObject({ turn: 1, text: 'done too' })
    expectSettled(m.session)
  })

  test('steering without a turn starts one', async () => {
    const m = await mount(['hello'])
    const ended = new Promise<void>((resolve) => void m.ctx.on('agent/turn-ended', () => resolve()))
    m.agent.steer('hi')
    await ended
    expect(lines(m.session)).toEqual(['user: hi', 'assistant: hello'])
  })

  test('an injected context starts no turn and goes out with the next step', async () => {
    const m = await mount(['ok'])
    m.agent.inject('the build is green', 'ci')
    expect(m.agent.busy).toBe(false)
    await m.agent.send('deploy')
    expect(lines(m.session)).toEqual(['user: deploy', 'user: the build is green', 'assistant: ok'])
    expect(m.events('user/message')[1]?.data.source).toBe('ci')
  })

  test('listeners are told how much waits', async () => {
    const m = await mount(['ok'])
    const waiting: number[] = []
    m.ctx.on('agent/inbox-changed', (agent, count) => waiting.push(agent === 'main' ? count : -1))
    m.agent.inject('x', 'test')
    await m.agent.send('y')
    expect(waiting).toEqual([1, 2])
  })

  test('an inbox that is full refuses more and says so', async () => {
    const m = await mount([])
    for (let i = 0; i < INBOX_MAX; i++) m.agent.inject('x', 'test')
    expect(() => m.agent.inject('x', 'test')).toThrow(/is full/)
  })

  test('a closed agent settles what waits and takes nothing more', async () => {
    const m = await mount([{ hang: true }])
    const started = new Promise<void>((resolve) => void m.ctx.on('agent/turn-started', () => resolve()))
    const first = m.agent.send('a')
    const second = m.agent.send('b')
    await started
    await m.agent.close()
    expect(await first).toMatchObject({ reason: 'aborted', detail: 'the agent was closed' })
    expect(await second).toMatchObject({ reason: 'aborted', detail: 'the agent was closed' })
    await expect(m.agent.send('c')).rejects.toMatchObject({ code: 'AGENT_CLOSED' })
    expect(() => m.agent.steer('c')).toThrow(expect.objectContaining({ code: 'AGENT_CLOSED' }))
    expect(m.ctx.agents.get('main')).toBeUndefined()
    expectSettled(m.session)
  })
})
