import { llmErrors } from '@sluice/llm'
import { memoryStore, sessionErrors } from '@sluice/session'
import type { SessionStore } from '@sluice/session'
import { probeTool } from '@sluice/testkit'
import { describe, expect, test, vi } from 'vitest'
import type { Context } from 'cordis'
import { expectSettled, mount, tool } from './harness.ts'

describe('a turn', () => {
  test('a turn records prompt, request, message, call, result and end, in this order', async () => {
    const probe = probeTool()
    const m = await mount([{ text: 'Looking.', calls: [{ name: 'probe', id: 'c1' }] }, 'All done.'], {
      tools: [probe.definition],
    })
    const result = await m.agent.send('do it')
    expect(result).toMatchObject({ turn: 1, reason: 'completed', text: 'All done.', denied: [] })
    expect(m.types().filter((type) => type !== 'tool/started')).toEqual([
      'session/started',
      'turn/started',
      'user/message',
      'step/started',
      'request/changed',
      'assistant/message',
      'tool/call',
      'tool/result',
      'step/ended',
      'step/started',
      'assistant/message',
      'step/ended',
      'turn/ended',
    ])
    expect(probe.runs).toBe(1)
    expect(m.model.requests[1]?.messages).toHaveLength(3)
    m.model.verify()
    expectSettled(m.session)
  })

  test('turns are numbered on, also by a later agent on the same session', async () => {
    const m = await mount(['one', 'two', 'three'])
    expect((await m.agent.send('a')).turn).toBe(1)
    expect((await m.agent.send('b')).turn).toBe(2)
    await m.agent.close()
    const later = m.ctx.agents.create({ session: m.session, model: 'sim/one' })
    expect((await later.send('c')).turn).toBe(3)
    expect(m.events('request/changed')).toHaveLength(1)
  })

  test('live pieces reach listeners before the message is recorded, and a listener that throws harms nothing', async () => {
    const m = await mount([{ text: ['Hel', 'lo'] }])
    const seen: string[] = []
    m.agent.onPiece(() => {
      throw new Error('broken view')
    })
    m.agent.onPiece((piece, step) => seen.push(`${step} ${piece.type} ${m.events('assistant/message').length}`))
    expect((await m.agent.send('hi')).text).toBe('Hello')
    expect(seen).toEqual(['1 text 0', '1 text 0', '1 finish 0'])
  })

  test('a request goes out only when everything before it is durable', async () => {
    const order: string[] = []
    const inner = memoryStore()
    const store: SessionStore = {
      kind: 'watched',
      open: (id, mode) => inner.open(id, mode),
      list: () => inner.list(),
      scan: (id, visit) => inner.scan(id, visit),
      repair: (id) => inner.repair(id),
      remove: (id) => inner.remove(id),
      holder: (id) => inner.holder(id),
      unlock: (id, holder) => inner.unlock(id, holder),
      async create(id) {
        const log = await inner.create(id)
        return Object.assign(Object.create(log) as typeof log, {
          async durable(seq: number) {
            await log.durable(seq)
            order.push(`durable ${seq}`)
          },
        })
      },
    }
    const m = await mount(
      [
        () => {
          order.push(`request ${m.session.events.length - 1}`)
          return { calls: [{ name: 'look', id: 'c1' }] }
        },
        'done',
      ],
      {
        store,
        tools: [
          tool('look', () => order.push(`body ${m.events('assistant/message').at(-1)?.seq}`), {
            annotations: { readOnly: true },
          }),
        ],
      },
    )
    await m.agent.send('go')
    const before = (what: string) => {
      const at = order.findIndex((entry) => entry.startsWith(what))
      return [order[at - 1]?.replace('durable ', ''), order[at]?.split(' ')[1]]
    }
    expect(before('request')[0]).toBe(before('request')[1])
    expect(before('body')[0]).toBe(before('body')[1])
    expect(order.at(-1)).toBe(`durable ${m.session.events.length - 1}`)
  })

  test('a log that cannot be made durable ends the turn before the request goes out', async () => {
    const inner = memoryStore()
    let broken = false
    const store: SessionStore = {
      kind: 'failing',
      open: (id, mode) => inner.open(id, mode),
      list: () => inner.list(),
      scan: (id, visit) => inner.scan(id, visit),
      repair: (id) => inner.repair(id),
      remove: (id) => inner.remove(id),
      holder: (id) => inner.holder(id),
      unlock: (id, holder) => inner.unlock(id, holder),
      async create(id) {
        const log = await inner.create(id)
        return Object.assign(Object.create(log) as typeof log, {
          durable: (seq: number) => (broken ? Promise.reject(new Error('disk full')) : log.durable(seq)),
        })
      },
    }
    const probe = probeTool()
    const m = await mount(
      [
        () => {
          broken = true
          return { calls: [{ name: 'probe', id: 'c1' }] }
        },
      ],
      { store, tools: [probe.definition] },
    )
    const result = await m.agent.send('go')
    expect(result).toMatchObject({ reason: 'error', code: 'SESSION_NOT_DURABLE' })
    expect(result.detail).toContain('disk full')
    expect(sessionErrors.table.SESSION_NOT_DURABLE).toBeDefined()
    expect(probe.runs).toBe(0)
    expect(m.model.requests).toHaveLength(1)
    expectSettled(m.session)
    expect(await m.agent.send('again')).toMatchObject({ reason: 'error', code: 'SESSION_NOT_DURABLE' })
    expect(m.model.requests).toHaveLength(1)
    broken = false
  })
})

describe('how a turn ends', () => {
  test('a turn ends with budget after its last step', async () => {
    const again = { calls: [{ name: 'probe' }] }
    const m = await mount([again, again, again], { tools: [probeTool().definition], agent: { stepsMax: 2 } })
    expect(await m.agent.send('loop')).toMatchObject({ reason: 'budget', detail: 'the turn took its 2 steps' })
    expect(m.model.requests).toHaveLength(2)
    expectSettled(m.session)
  })

  test('a turn ends with budget when its tokens are used up', async () => {
    const again = { calls: [{ name: 'probe' }], usage: { inputTokens: 60, outputTokens: 5 } }
    const m = await mount([again, again, again], { tools: [probeTool().definition], agent: { tokensMax: 100 } })
    expect(await m.agent.send('loop')).toMatchObject({ reason: 'budget', detail: 'the turn used 130 tokens' })
    expectSettled(m.session)
  })

  // 12.2
  test('a turn sets two timers, however many steps, calls and slow listeners it has', async () => {
    const again = { calls: [{ name: 'probe' }, { name: 'probe' }] }
    const m = await mount([again, again, again, 'done'], { tools: [probeTool().definition] })
    await m.ctx.plugin({
      name: 'slow',
      apply(own: Context) {
        own.on('agent/submit-prompt', async (_prompt, next) => next())
        own.on('tools/pre-execute', async (_call, next) => next())
        own.on('tools/post-execute', async (_call, _result, next) => next())
        own.on('agent/stop-turn', async (_turn, next) => next())
      },
    })
    const timer = vi.spyOn(m.world.clock, 'timer')
    expect((await m.agent.send('go')).reason).toBe('completed')
    // That of the turn, and the first of a listener, which is due before.
    expect(timer).toHaveBeenCalledTimes(2)
    expect(m.world.clock.pending).toBe(0)
  })

  test('a turn that takes too long is cut short with budget and a settled log', async () => {
    const m = await mount([{ text: 'thinking', hang: true }], { agent: { turnMsMax: 5000 } })
    const sent = m.agent.send('think')
    const thinking = new Promise<void>((resolve) => void m.agent.onPiece(() => resolve()))
    await thinking
    await m.world.clock.advance(5000)
    expect(await sent).toMatchObject({ reason: 'budget', text: 'thinking' })
    expect(m.world.clock.pending).toBe(0)
    expectSettled(m.session)
  })

  test('a text that is cut off at the output limit ends the turn with length', async () => {
    const m = await mount([{ text: 'half a sen', finish: 'length' }])
    expect(await m.agent.send('write')).toMatchObject({ reason: 'length', text: 'half a sen' })
  })

  test('a failed request ends the turn with the code of the failure and keeps what was received', async () => {
    const error = llmErrors('LLM_BROKEN', { url: 'http://sim', problem: 'reset' })
    const m = await mount([{ text: 'I was say', error }, 'fine now'])
    expect(await m.agent.send('talk')).toMatchObject({ reason: 'error', code: 'LLM_BROKEN', text: 'I was say' })
    expect(m.events('assistant/message')[0]?.data).toMatchObject({ finish: 'error', interrupted: error.message })
    expect(m.events('turn/ended')[0]?.data).toMatchObject({ reason: 'error', code: 'LLM_BROKEN' })
    expect((await m.agent.send('again')).reason).toBe('completed')
    expectSettled(m.session)
  })

  test('an untyped failure, a filtered reply and a stream without an end each have a code', async () => {
    const m = await mount([
      { error: new Error('boom') },
      { text: 'no', finish: 'filter' },
      { text: 'and then', breakAfter: 1 },
      { text: 'hm', finish: 'error' },
    ])
    expect(await m.agent.send('1')).toMatchObject({ reason: 'error', code: 'AGENT_REPLY_FAILED' })
    expect(await m.agent.send('2')).toMatchObject({ reason: 'error', code: 'AGENT_REPLY_FILTERED' })
    expect(await m.agent.send('3')).toMatchObject({ reason: 'error', code: 'AGENT_REPLY_INCOMPLETE' })
    expect(await m.agent.send('4')).toMatchObject({ reason: 'error', code: 'AGENT_REPLY_FAILED' })
    expectSettled(m.session)
  })

  test('a missing adapter ends the turn with a typed error', async () => {
    const m = await mount([], { agent: { model: 'nobody/x' } })
    expect(await m.agent.send('hi')).toMatchObject({ reason: 'error', code: 'LLM_NO_ADAPTER' })
    expectSettled(m.session)
  })

  test('a body may end the turn after its batch', async () => {
    const m = await mount([{ calls: [{ name: 'finish', id: 'c1' }] }], {
      tools: [{ ...tool('finish', () => 'x'), execute: (_args, run) => run.endTurn() ?? 'ended' }],
    })
    expect(await m.agent.send('go')).toMatchObject({ reason: 'completed' })
    expect(m.model.requests).toHaveLength(1)
    expectSettled(m.session)
  })
})
