import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import type { Answer } from '@sluice/approval'
import type { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { mount } from './mount.ts'

// 6.3, BUG-034
describe('offers', () => {
  test('a taken offer goes to its asker with its exact text, and stands in the log', async () => {
    const bench = await mount({ ask: { offers: [{ id: 'this-file', text: 'probe(a.txt)' }] } })
    const taken: unknown[] = []
    bench.ctx.on('approval/offer-taken', (question, offer, by) => taken.push(question.callId, offer, by))
    await bench.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once', offer: 'this-file' }))
    await bench.call({ path: 'a.txt' })
    expect(taken).toEqual(['c1', { id: 'this-file', text: 'probe(a.txt)' }, expect.stringMatching(/^asker#\d+$/)])
    expect(bench.decided()).toEqual([{ callId: 'c1', decision: 'allowed-once', by: 'person', offer: 'probe(a.txt)' }])
  })

  test('an offer is taken by allowing only, and without naming one nothing is stored', async () => {
    const bench = await mount({ ask: { offers: [{ id: '1', text: 'probe' }] } })
    let taken = 0
    bench.ctx.on('approval/offer-taken', () => void taken++)
    const answers = [{ kind: 'allow-once' }, { kind: 'reject', offer: '1' }, { kind: 'cancel', offer: '1' }]
    await bench.answerer('person', ({ callId }) => ({ callId, ...answers.shift() }) as Answer)
    for (let i = 0; i < 3; i++) await bench.call()
    expect(taken).toBe(0)
    expect(bench.decided().some(({ offer }) => offer !== undefined)).toBe(false)
  })

  test('an id that two askers use names neither: nobody stores a rule that was not chosen', async () => {
    const bench = await mount({ ask: { offers: [{ id: '1', text: 'probe(a.txt)' }] } })
    await bench.ctx.plugin({
      name: 'greedy',
      inject: ['tools'],
      apply: (ctx: Context) =>
        void ctx.on('tools/pre-execute', () => ({
          kind: 'ask',
          reason: 'me too',
          offers: [{ id: '1', text: 'probe' }],
        })),
    })
    let taken = 0
    bench.ctx.on('approval/offer-taken', () => void taken++)
    await bench.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once', offer: '1' }))
    const { result } = await bench.call({ path: 'a.txt' })
    expect(result.outcome).toMatchObject({ tag: 'denied' })
    expect([taken, bench.probe.runs]).toEqual([0, 0])
  })

  test('an asker can store the rule and answer its other open questions that the rule covers', async () => {
    const bench = await mount()
    const stored = new Set<string>()
    const probe = probeTool({ name: 'write', overlap: 'parallel', specifier: ({ path }) => String(path) })
    await bench.ctx.plugin({
      name: 'permissions',
      inject: ['tools', 'approval'],
      apply(ctx: Context) {
        ctx.tools.register(probe.definition)
        const textOf = (call: { tool: string; specifier: string | undefined }) => `${call.tool}(${call.specifier})`
        ctx.on('tools/pre-execute', (call, next) => {
          if (call.tool !== 'write') return next()
          if (stored.has(textOf(call))) return { kind: 'allow' }
          return { kind: 'ask', reason: 'writes', offers: [{ id: textOf(call), text: textOf(call) }] }
        })
        ctx.on('approval/offer-taken', (_question, offer, by) => {
          if (by !== `permissions#${ctx.fiber.uid}`) return
          stored.add(offer.text)
          for (const open of ctx.approval.open())
            if (open.asks.some(({ offers }) => offers?.some(({ text }) => text === offer.text)))
              ctx.approval.answer(open.sessionId, { callId: open.callId, kind: 'allow-once' }, 'permissions')
        })
      },
    })
    // The asker of the bench asks about everything; here only the rule counts.
    for (const runtime of bench.ctx.registry.values())
      if (runtime.name === 'asker') for (const fiber of runtime.fibers) await fiber.dispose()
    const person = deferred<Answer>()
    let asked = 0
    await bench.answerer('person', ({ callId }) => (asked++, callId === 'a' ? person.promise : new Promise(() => {})))
    const write = (id: string, path: string) => ({ id, tool: 'write', arguments: { path } })
    const running = bench.ctx.tools.batch({
      session: bench.session,
      calls: [write('a', 'x'), write('b', 'x'), write('c', 'y')],
    })
    await flushMicrotasks()
    expect(asked).toBe(3)
    person.resolve({ callId: 'a', kind: 'allow-once', offer: 'write(x)' })
    await flushMicrotasks()
    expect(bench.ctx.approval.open().map(({ callId }) => callId)).toEqual(['c'])
    bench.ctx.approval.answer(bench.session.id, { callId: 'c', kind: 'reject' }, 'person')
    const settled = await running
    expect(settled.calls.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'succeeded', 'denied'])
    const again = await bench.ctx.tools.batch({
      session: bench.session,
      calls: [write('d', 'x')],
    })
    expect(again.calls[0]?.result.outcome.tag).toBe('succeeded')
    expect(asked).toBe(3)
  })
})
