import { deferred, probeTool } from '@sluice/testkit'
import { describe, expect, test } from 'vitest'
import { expectSettled, lines, mount, tool } from './harness.ts'

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  )

describe('abort', () => {
  // BUG-001
  test('a turn aborted while a tool runs has one aborted result, and the next turn runs', async () => {
    const entered = deferred()
    const m = await mount([{ calls: [{ name: 'sleepy', id: 'c1' }] }, 'going on'], {
      tools: [{ ...tool('sleepy', () => ''), execute: (_args, run) => (entered.resolve(), untilAborted(run.signal)) }],
    })
    const sent = m.agent.send('sleep')
    await entered.promise
    expect(m.agent.busy).toBe(true)
    await m.agent.abort('pressed stop')
    expect(await sent).toMatchObject({ reason: 'aborted', detail: 'pressed stop' })
    expect(m.agent.busy).toBe(false)
    expect(m.events('tool/result').map(({ data }) => data.outcome)).toMatchObject([{ tag: 'aborted' }])
    expectSettled(m.session)
    expect(await m.agent.send('go on')).toMatchObject({ reason: 'completed', text: 'going on' })
    expectSettled(m.session)
  })

  // BUG-006
  test('a batch with an aborted, a denied and a finished call has three results in call order', async () => {
    const entered = deferred()
    const others = deferred()
    const m = await mount(
      [
        {
          calls: [
            { name: 'a', id: 'c1' },
            { name: 'b', id: 'c2' },
            { name: 'c', id: 'c3' },
          ],
        },
        'next',
      ],
      {
        tools: [
          {
            ...tool('a', () => '', { overlap: 'parallel' }),
            execute: (_args, run) => (entered.resolve(), untilAborted(run.signal)),
          },
          tool('b', () => 'B', { overlap: 'parallel' }),
          tool('c', () => 'C', { overlap: 'parallel' }),
        ],
      },
    )
    m.ctx.on('tools/pre-execute', (call, next) => (call.tool === 'b' ? { kind: 'deny', reason: 'not b' } : next()))
    m.session.subscribe(() => {
      if (m.events('tool/result').length === 2) others.resolve()
    })
    const sent = m.agent.send('all three')
    await Promise.all([entered.promise, others.promise])
    await m.agent.abort()
    expect(await sent).toMatchObject({ reason: 'aborted', denied: ['c2'] })
    const tags = new Map(m.events('tool/result').map(({ data }) => [data.callId, data.outcome.tag]))
    expect([tags.get('c1'), tags.get('c2'), tags.get('c3')]).toEqual(['aborted', 'denied', 'succeeded'])
    expect(
      lines(m.session)
        .slice(2)
        .map((line) => line.split(':')[0]),
    ).toEqual(['result c1', 'result c2', 'result c3'])
    expectSettled(m.session)
    expect((await m.agent.send('on')).reason).toBe('completed')
  })

  test('text that was streamed before the abort is kept and marked, and its calls are not run', async () => {
    const probe = probeTool()
    const m = await mount([{ text: 'I will', calls: [{ name: 'probe', id: 'c1' }], hang: true }], {
      tools: [probe.definition],
    })
    const called = new Promise<void>((resolve) => {
      m.agent.onPiece((piece) => piece.type === 'tool-call' && resolve())
    })
    const sent = m.agent.send('go')
    await called
    await m.agent.abort('enough')
    expect(await sent).toMatchObject({ reason: 'aborted', detail: 'enough', text: 'I will' })
    expect(m.events('assistant/message')[0]?.data).toMatchObject({ finish: 'aborted', interrupted: 'enough' })
    expect(probe.runs).toBe(0)
    expectSettled(m.session)
  })

  test('an abort before anything was received leaves no empty message', async () => {
    const m = await mount([() => (void m.agent.abort('at once'), { hang: true })])
    expect(await m.agent.send('go')).toMatchObject({ reason: 'aborted', detail: 'at once' })
    expect(m.model.requests).toHaveLength(1)
    expect(m.events('assistant/message')).toHaveLength(0)
    expectSettled(m.session)
  })

  test('an abort at the start of a turn makes no request', async () => {
    const m = await mount([])
    m.ctx.on('agent/turn-started', () => void m.agent.abort('at once'))
    expect(await m.agent.send('go')).toMatchObject({ reason: 'aborted', detail: 'at once' })
    expect(m.model.requests).toHaveLength(0)
    expectSettled(m.session)
  })

  test('steering that plugins were still asked about is kept for the next turn, in order', async () => {
    const asked = deferred()
    const m = await mount([() => (m.agent.steer('first'), m.agent.steer('second'), 'hm'), 'a', 'b'])
    let hang = true
    m.ctx.on('agent/submit-prompt', (prompt, next) => {
      if (!hang || !JSON.stringify(prompt.content).includes('first')) return next()
      hang = false
      asked.resolve()
      return new Promise<never>(() => {})
    })
    const sent = m.agent.send('go')
    await asked.promise
    const later = m.agent.send('last')
    await m.agent.abort()
    expect((await sent).reason).toBe('aborted')
    await later
    expect(m.events('user/message').map(({ data }) => data.content[0])).toMatchObject([
      { text: 'go' },
      { text: 'first' },
      { text: 'second' },
      { text: 'last' },
    ])
    expectSettled(m.session)
  })

  test('an adapter that ignores the abort does not hold the turn', async () => {
    const m = await mount([], { agent: { model: 'deaf/one' } })
    const asked = deferred()
    m.ctx.llm.register('deaf', {
      async *stream() {
        yield { type: 'text', text: 'la' }
        asked.resolve()
        await new Promise<never>(() => {})
      },
    })
    const sent = m.agent.send('sing')
    await asked.promise
    await m.agent.abort()
    expect(await sent).toMatchObject({ reason: 'aborted', text: 'la' })
    expectSettled(m.session)
  })

  test('an abort while a plugin thinks about the prompt ends the turn at once', async () => {
    const asked = deferred()
    const m = await mount([])
    m.ctx.on('agent/submit-prompt', () => (asked.resolve(), new Promise<never>(() => {})))
    const sent = m.agent.send('hello?')
    await asked.promise
    await m.agent.abort()
    expect((await sent).reason).toBe('aborted')
    expect(m.events('user/message')).toHaveLength(0)
    expectSettled(m.session)
  })

  test('an abort at any event of a turn leaves a settled log that a strict provider accepts', async () => {
    const script = [
      {
        text: 'Hm.',
        calls: [
          { name: 'probe', id: 'c1' },
          { name: 'probe', id: 'c2' },
        ],
      },
      'done',
    ]
    const whole = await mount(script, { tools: [probeTool().definition] })
    await whole.agent.send('go')
    const count = whole.session.events.length
    for (let at = 1; at < count; at++) {
      const m = await mount([...script, 'again', 'again'], { tools: [probeTool().definition] })
      m.session.subscribe((event) => {
        if (event.seq === at) void m.agent.abort(`at ${at}`)
      })
      const { reason } = await m.agent.send('go')
      expect(['aborted', 'completed']).toContain(reason)
      expectSettled(m.session)
      const next = await m.agent.send('go on')
      expect(next.reason).toBe('completed')
      expectSettled(m.session)
    }
  })

  test('what is queued behind an aborted turn is not lost', async () => {
    const asked = deferred()
    const m = await mount([() => (asked.resolve(), { hang: true }), 'second', 'third'])
    const first = m.agent.send('one')
    const second = m.agent.send('two')
    await asked.promise
    m.agent.steer('by the way')
    await m.agent.abort()
    expect((await first).reason).toBe('aborted')
    expect((await second).reason).toBe('completed')
    expect(m.events('user/message').map(({ data }) => data.content[0])).toMatchObject([
      { text: 'one' },
      { text: 'by the way' },
      { text: 'two' },
    ])
  })

  test('an abort without a turn does nothing', async () => {
    const m = await mount(['fine'])
    await m.agent.abort()
    expect((await m.agent.send('hi')).reason).toBe('completed')
  })
})
