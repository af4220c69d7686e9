import { deferred, flushMicrotasks } from '@sluice/testkit'
import type { Answer, Question } from '@sluice/approval'
import { describe, expect, test } from 'vitest'
import { mount } from './mount.ts'

const yes = ({ callId }: Question): Answer => ({ callId, kind: 'allow-once' })
const forever = () => new Promise<never>(() => {})

// 6.1
describe('a question', () => {
  test('carries the call, its card and all reasons, and cannot be changed by whoever answers', async () => {
    const bench = await mount({ ask: { rule: 'r1', offers: [{ id: '1', text: 'probe(a.txt)' }] } })
    let seen: Question | undefined
    await bench.answerer('person', (question) => ((seen = question), yes(question)))
    await bench.call({ path: 'a.txt' })
    expect(seen).toMatchObject({
      callId: 'c1',
      sessionId: bench.session.id,
      tool: 'probe',
      text: 'Allow probe(a.txt)? it changes a file',
      asks: [{ by: expect.stringMatching(/^asker#/) as string, reason: 'it changes a file', rule: 'r1' }],
      card: { kind: 'generic' },
    })
    for (const target of [
      seen,
      seen?.asks,
      seen?.asks[0],
      seen?.asks[0]?.offers,
      seen?.asks[0]?.offers?.[0],
      seen?.card,
    ])
      expect(Object.isFrozen(target)).toBe(true)
    expect(bench.probe.runs).toBe(1)
  })

  test('is frozen whoever asks it, not only for calls of the pipeline', async () => {
    const bench = await mount()
    let seen: Question | undefined
    await bench.answerer('person', (question) => ((seen = question), yes(question)))
    const [call] = await new Promise<Parameters<typeof bench.ctx.approval.ask>[0]['call'][]>((resolve) => {
      bench.ctx.on('tools/result', (made) => resolve([made]))
      void bench.call()
    })
    const asks = [{ by: 'me', reason: 'as it was' }]
    await bench.ctx.approval.ask({ call: call!, card: call!.card, asks })
    asks[0]!.reason = 'changed'
    expect(seen?.asks).toEqual([{ by: 'me', reason: 'as it was' }])
    expect(Object.isFrozen(seen?.asks[0])).toBe(true)
  })

  test('has three answers: allowed once, rejected with a message for the model, cancelled', async () => {
    const bench = await mount()
    const answers: Answer[] = [
      { callId: 'c1', kind: 'allow-once' },
      { callId: 'c2', kind: 'reject', message: 'use the other file' },
      { callId: 'c3', kind: 'cancel' },
    ]
    await bench.answerer('person', () => answers.shift())
    const outcomes = [await bench.call(), await bench.call(), await bench.call()].map(({ result }) => result.outcome)
    expect(outcomes).toMatchObject([
      { tag: 'succeeded' },
      { tag: 'denied', by: 'person', reason: 'use the other file' },
      { tag: 'denied', by: 'person', reason: 'the question was dismissed' },
    ])
    expect(bench.log()).toEqual([
      'asked c1',
      'decided c1 allowed-once',
      'asked c2',
      'decided c2 rejected',
      'asked c3',
      'decided c3 cancelled',
    ])
    expect(bench.decided()[1]).toEqual({
      callId: 'c2',
      decision: 'rejected',
      by: 'person',
      message: 'use the other file',
    })
  })

  // BUG-036
  test('that nobody can answer is denied at once', async () => {
    const nobodies: Record<string, Parameters<Awaited<ReturnType<typeof mount>>['answerer']>[1] | undefined> = {
      'no answerer': undefined,
      'one that leaves it': () => undefined,
      'one that throws': () => {
        throw new Error('broken')
      },
      'one that rejects': () => Promise.reject(new Error('broken')),
      'one that says null': (() => null) as never,
      'one that says yes': (() => 'allow-once') as never,
      'one for another call': () => ({ callId: 'c9', kind: 'allow-once' }),
      'one without a call': (() => ({ kind: 'allow-once' })) as never,
      'one with another word': (({ callId }: Question) => ({ callId, kind: 'always' })) as never,
      'one with a boxed word': (({ callId }: Question) => ({ callId, kind: new String('allow-once') })) as never,
      'one with an unknown offer': ({ callId }) => ({ callId, kind: 'allow-once', offer: 'everything' }),
      'one whose answer throws': (() => ({
        get callId() {
          throw new Error('no')
        },
      })) as never,
    }
    for (const [what, answer] of Object.entries(nobodies)) {
      const bench = await mount()
      if (answer) await bench.answerer('nobody', answer)
      const { result } = await bench.call()
      expect(result.outcome, what).toMatchObject({ tag: 'denied', stage: 'approval', executed: 'no' })
      expect(result.content, what).toMatchObject([{ text: expect.stringContaining('nobody could be asked') as string }])
      expect(bench.log(), what).toEqual(['asked c1', 'decided c1 unavailable'])
      expect(bench.probe.runs, what).toBe(0)
    }
  })

  // BUG-036
  test('whose only answerer is unloaded is denied at once, and a later answer of it is no answer', async () => {
    const bench = await mount()
    const late = deferred<Answer>()
    const [first, second] = [await bench.answerer('first', () => late.promise), await bench.answerer('second', forever)]
    const running = bench.call()
    await flushMicrotasks()
    await first.dispose()
    late.resolve({ callId: 'c1', kind: 'allow-once' })
    await flushMicrotasks()
    expect(bench.log()).toEqual(['asked c1'])
    await second.dispose()
    expect((await running).result.outcome).toMatchObject({ tag: 'denied', stage: 'approval' })
    expect(bench.log()).toEqual(['asked c1', 'decided c1 unavailable'])
    expect(bench.probe.runs).toBe(0)
  })

  // BUG-036
  test('that is open when approval is unloaded is denied, and both events are in the log', async () => {
    const bench = await mount()
    // Of a plugin that does not go with approval.
    bench.ctx.approval.answerer('person', forever)
    const running = bench.call()
    await flushMicrotasks()
    await bench.approval.dispose()
    expect((await running).result.outcome).toMatchObject({ tag: 'denied', stage: 'approval' })
    expect(bench.log()).toEqual(['asked c1', 'decided c1 unavailable'])
  })

  test('has an expiry where the composition sets one', async () => {
    const bench = await mount({ expiryMs: 5_000, autoAdvance: true })
    await bench.answerer('person', forever)
    const { result } = await bench.call()
    expect(bench.world.clock.monotonic()).toBe(5_000)
    expect(result.outcome).toMatchObject({
      tag: 'denied',
      by: 'expiry',
      reason: 'this needs the approval of a person, and nobody answered in time',
    })
    expect(bench.decided()).toMatchObject([{ decision: 'unavailable', by: 'expiry' }])
    const answered = await mount({ expiryMs: 5_000 })
    await answered.answerer('person', yes)
    await answered.call()
    expect(answered.world.clock.pending).toBe(0)
  })
})

// 6.2
describe('one decision for each question', () => {
  test('the first answer wins, the others are told, and later answers change nothing', async () => {
    const bench = await mount()
    const slow = deferred<Answer>()
    const ignored: unknown[] = []
    let told = false
    await bench.answerer(
      'slow',
      ({ signal }) => (signal.addEventListener('abort', () => (told = true)), slow.promise),
      {
        onIgnored: (answer, why) => ignored.push(answer, why),
      },
    )
    await bench.answerer('quick', ({ callId }) => ({ callId, kind: 'reject', message: 'no' }))
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'denied', by: 'quick', reason: 'no' })
    expect(told).toBe(true)
    slow.resolve({ callId: 'c1', kind: 'allow-once' })
    await flushMicrotasks()
    expect(ignored).toEqual([{ callId: 'c1', kind: 'allow-once' }, 'the question is already settled'])
    expect(bench.log()).toEqual(['asked c1', 'decided c1 rejected'])
    expect(bench.reports.join()).toContain('an answer of slow to c1 was ignored')
    expect(bench.probe.runs).toBe(0)
  })

  test('a foreign answer is reported to its answerer, and the question stays open for the others', async () => {
    const bench = await mount()
    const ignored: string[] = []
    await bench.answerer('mistaken', () => ({ callId: 'c7', kind: 'allow-once' }), {
      onIgnored: (_answer, why) => ignored.push(why),
    })
    const person = deferred<Answer>()
    await bench.answerer('person', () => person.promise)
    const running = bench.call()
    await flushMicrotasks()
    expect(ignored).toEqual(['it answers c7, not c1'])
    expect(bench.log()).toEqual(['asked c1'])
    person.resolve({ callId: 'c1', kind: 'allow-once' })
    await running
    expect(bench.probe.runs).toBe(1)
  })

  test('an answer from outside names its call and session; anything else changes nothing and says why', async () => {
    const bench = await mount()
    await bench.answerer('screen', forever)
    const running = bench.call()
    await flushMicrotasks()
    const { approval } = bench.ctx
    const { id } = bench.session
    expect(approval.open()).toMatchObject([{ callId: 'c1', sessionId: id }])
    expect(approval.answer('other', { callId: 'c1', kind: 'allow-once' }, 'host')).toEqual({
      accepted: false,
      why: 'no question about c1 is open',
    })
    for (const wrong of [
      null,
      undefined,
      'c1',
      {},
      { callId: 'c2', kind: 'allow-once' },
      { callId: 'c1', kind: 'maybe' },
    ])
      expect(approval.answer(id, wrong as never, 'host')).toMatchObject({ accepted: false })
    expect(approval.answer(id, { callId: 'c1', kind: 'allow-once' }, 'host')).toEqual({ accepted: true })
    expect(approval.answer(id, { callId: 'c1', kind: 'reject' }, 'host')).toMatchObject({ accepted: false })
    await running
    expect(bench.decided()).toEqual([{ callId: 'c1', decision: 'allowed-once', by: 'host' }])
    expect(approval.open()).toEqual([])
    expect(bench.probe.runs).toBe(1)
  })

  test('an answer is read once: what it says at a second look changes nothing', async () => {
    const bench = await mount({
      ask: {
        offers: [
          { id: '1', text: 'one' },
          { id: '2', text: 'two' },
        ],
      },
    })
    const kinds = ['reject', 'allow-once']
    const offers = ['1', '2']
    await bench.answerer('shifty', ({ callId }) => ({
      callId,
      get kind() {
        return kinds.shift() as 'allow-once'
      },
      get offer() {
        return offers.shift() ?? '2'
      },
    }))
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'denied' })
    expect(bench.log()).toEqual(['asked c1', 'decided c1 rejected'])
  })

  test('a decision that cannot be recorded permits nothing', async () => {
    const bench = await mount()
    const append = bench.session.append.bind(bench.session)
    bench.session.append = ((type: string, data: unknown, options?: { cause?: number }) => {
      if (type === 'approval/decided') throw new Error('no space left')
      return append(type, data, options)
    }) as typeof bench.session.append
    const closed: string[] = []
    bench.ctx.on('approval/question-closed', (_question, decision) => void closed.push(decision))
    await bench.answerer('person', yes)
    const { result } = await bench.call()
    expect(result.outcome).toMatchObject({ tag: 'denied', stage: 'approval', executed: 'no' })
    expect(closed).toEqual(['unavailable'])
    expect(bench.probe.runs).toBe(0)
    expect(bench.reports.join()).toContain('the decision about c1 could not be recorded')
  })
})

// 6.4
describe('several questions', () => {
  test('are open at once, answered in any order, while other calls go on', async () => {
    const bench = await mount()
    const answers = new Map<string, ReturnType<typeof deferred<Answer>>>()
    await bench.answerer('person', ({ callId }) => {
      const answer = deferred<Answer>()
      answers.set(callId, answer)
      return answer.promise
    })
    const calls = ['a', 'b', 'c'].map((id) => ({ id, tool: 'probe', arguments: {} }))
    const running = bench.ctx.tools.batch({ session: bench.session, calls })
    await flushMicrotasks()
    expect(bench.ctx.approval.open().map(({ callId }) => callId)).toEqual(['a', 'b', 'c'])
    answers.get('c')?.resolve({ callId: 'c', kind: 'allow-once' })
    await flushMicrotasks()
    expect(bench.probe.runs).toBe(1)
    answers.get('a')?.resolve({ callId: 'a', kind: 'reject' })
    answers.get('b')?.resolve({ callId: 'b', kind: 'allow-once' })
    const settled = await running
    expect(settled.calls.map(({ result }) => result.outcome.tag)).toEqual(['denied', 'succeeded', 'succeeded'])
    expect(bench.log().slice(3)).toEqual(['decided c allowed-once', 'decided a rejected', 'decided b allowed-once'])
  })

  test('are all closed by an abort, as cancelled and before the results, and the calls end aborted', async () => {
    const bench = await mount()
    const signals: AbortSignal[] = []
    await bench.answerer('person', ({ signal }) => (signals.push(signal), forever()))
    const controller = new AbortController()
    const calls = ['a', 'b'].map((id) => ({ id, tool: 'probe', arguments: {} }))
    const running = bench.ctx.tools.batch({ session: bench.session, calls, signal: controller.signal })
    await flushMicrotasks()
    controller.abort('stop')
    const settled = await running
    expect(settled.calls.map(({ result }) => result.outcome.tag)).toEqual(['aborted', 'aborted'])
    expect(bench.decided()).toEqual([
      { callId: 'a', decision: 'cancelled', by: 'abort' },
      { callId: 'b', decision: 'cancelled', by: 'abort' },
    ])
    const types = bench.session.events.map(({ type }) => type)
    expect(types.lastIndexOf('approval/decided')).toBeLessThan(types.indexOf('tool/result'))
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(bench.world.clock.pending).toBe(0)
  })
})
