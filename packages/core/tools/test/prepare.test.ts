import { probeTool } from '@sluice/testkit'
import type { KnownEvent, SessionEventMap } from '@sluice/session'
import type { Call } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { type Bench, steps } from './kit.ts'
import { ask, askedIn, judges, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

type Rewriter = (call: Call, next: () => unknown) => unknown

async function rewriters(bench: Bench, listeners: Record<string, Rewriter>) {
  const fibers = []
  for (const [order, [name, listener]] of Object.entries(listeners).entries())
    fibers.push(await bench.plugin(name, (ctx) => void ctx.on('tools/prepare', listener as never, { order })))
  return fibers
}

function rewritten(bench: Bench): Readonly<SessionEventMap['tool/rewritten']>[] {
  return (bench.session.events as readonly KnownEvent[])
    .filter((event) => event.type === 'tool/rewritten')
    .map((event) => event.data)
}

const numbered = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }

describe('rewriting arguments', () => {
  // 3.1
  test('each listener receives the arguments as the one before left them', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const seen: unknown[] = []
    await rewriters(bench, {
      a: (call) => (seen.push(call.args), { ...call.args, a: 1 }),
      b: async (call, next) => (seen.push(call.args), next()),
      c: async (call, next) => (seen.push(call.args), { ...((await next()) as object), c: 1 }),
      d: (call, next) => (seen.push(call.args, next()), next()),
    })
    await bench.call('probe', { n: 0 })
    expect(seen).toEqual([{ n: 0 }, { n: 0, a: 1 }, { n: 0, a: 1 }, { n: 0, a: 1, c: 1 }, { n: 0, a: 1, c: 1 }])
    expect(probe.args).toEqual([{ n: 0, a: 1, c: 1 }])
  })

  // 10.5
  test('an abort that comes right after an answer keeps the next listener from being asked', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const abort = new AbortController()
    let asked = 0
    await rewriters(bench, {
      a: (_call, next) => (queueMicrotask(() => abort.abort('stop')), next()),
      b: (_call, next) => (asked++, next()),
    })
    const { result } = await bench.call('probe', {}, { signal: abort.signal })
    expect([result.outcome.tag, asked]).toEqual(['aborted', 0])
  })

  // 3.2
  test('a change is copied at once into a new frozen call, next() gives the arguments unchanged', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const mine = { list: [1] }
    const calls: Call[] = []
    let same = false
    await rewriters(bench, {
      a: (call) => (calls.push(call), mine),
      b: (call, next) => {
        calls.push(call)
        mine.list.push(2)
        same = next() === call.args
        return next()
      },
    })
    await bench.call('probe', { list: [0] })
    expect(same).toBe(true)
    expect(calls.map((call) => call.args)).toEqual([{ list: [0] }, { list: [1] }])
    expect(Object.isFrozen(calls[1]) && Object.isFrozen(calls[1]?.args['list'])).toBe(true)
    expect(probe.args).toEqual([{ list: [1] }])
  })

  // 3.2
  test('arguments that end up invalid name the last plugin that made valid ones invalid', async () => {
    const cases: [Record<string, Rewriter>, string | undefined][] = [
      [{ a: () => ({ n: 'x' }), b: (_call, next) => next() }, 'a'],
      [{ a: () => ({ n: 'x' }), b: () => ({ n: 'y' }) }, 'a'],
      [{ a: () => ({ n: 'x' }), b: () => ({ n: 2 }), c: () => ({}) }, 'c'],
      [{ a: () => ({ n: 'x' }), b: () => ({ n: 2 }) }, undefined],
    ]
    for (const [listeners, breaker] of cases) {
      const bench = await soundBench()
      const probe = probeTool({ parameters: numbered })
      await bench.register(probe.definition)
      await rewriters(bench, listeners)
      let asked = 0
      await judges(bench, { counts: (_call, next) => (asked++, next()) })
      const settled = await bench.call('probe', { n: 1 })
      if (breaker === undefined) {
        expect(settled.result.outcome.tag).toBe('succeeded')
        expect(probe.args).toEqual([{ n: 2 }])
        continue
      }
      expect(settled.result.outcome).toMatchObject({
        tag: 'invalid',
        executed: 'no',
        by: expect.stringMatching(new RegExp(`^${breaker}#`)) as string,
        problems: [expect.objectContaining({ path: expect.stringContaining('$') as string })],
      })
      expect(steps(settled).slice(1, 3)).toEqual(['prepare:invalid', 'finalize:finalized'])
      expect(stepOf(settled, 'prepare').by).toMatch(new RegExp(`^${breaker}#`))
      expect([probe.runs, asked]).toEqual([0, 0])
    }
  })

  // 3.2
  test('what a plugin returns is never repaired: a number in quotes is invalid', async () => {
    const bench = await soundBench()
    await bench.register(probeTool({ parameters: numbered }).definition)
    await rewriters(bench, { a: () => ({ n: '2' }) })
    expect((await bench.call('probe', { n: 1 })).result.outcome.tag).toBe('invalid')
  })

  // 3.3
  test('each change is logged with before, after, by whom and a new card', async () => {
    const bench = await soundBench()
    await bench.register(
      probeTool({ presentCall: ({ n }) => ({ v: 1, kind: 'generic', title: `probe ${String(n)}` }) }).definition,
    )
    const [a, , c] = await rewriters(bench, {
      a: () => ({ n: 2 }),
      b: (call) => ({ ...call.args }),
      c: () => ({ n: 3 }),
    })
    const settled = await bench.call('probe', { n: 1 })
    const title = (n: number) => ({ v: 1, kind: 'generic', title: `probe ${n}` })
    expect(rewritten(bench)).toEqual([
      { callId: 'c1', by: `a#${a?.uid}`, before: { n: 1 }, after: { n: 2 }, card: title(2) },
      { callId: 'c1', by: `c#${c?.uid}`, before: { n: 2 }, after: { n: 3 }, card: title(3) },
    ])
    expect(askedIn(settled, 'prepare')).toEqual(['a:rewrite', 'b', 'c:rewrite'])
    expect(Object.isFrozen(settled.result.content)).toBe(true)
  })

  // 3.3, BUG-034
  test('everything after the stage acts on the final arguments: verdicts, guards, question, body, presenters', async () => {
    const bench = await soundBench({ approval: true })
    const seen: Record<string, unknown> = {}
    const probe = probeTool({
      specifier: ({ n }) => `n=${String(n)}`,
      overlap: (args) => ((seen['overlap'] = args), {}),
      presentCall: ({ n }) => ({ v: 1, kind: 'generic', title: `probe ${String(n)}` }),
      presentResult: (args) => ((seen['presentResult'] = args), { v: 1, kind: 'generic', title: 'done' }),
      render: (_value, args) => ((seen['render'] = args), 'rendered'),
      finalizeContent: (call, result) => ((seen['finalize'] = call.args), result.content),
    })
    await bench.register(probe.definition)
    await rewriters(bench, { changes: () => ({ n: 2 }) })
    await judges(bench, { asks: (call) => ((seen['verdict'] = call.args), ask('really?')) })
    await bench.plugin('guard', (ctx) => void ctx.tools.guard('looks', (call) => void (seen['guard'] = call.args)))
    let question: { text: string; card: unknown } | undefined
    await bench.ctx.plugin({
      name: 'person',
      inject: ['approval'],
      apply: (ctx) =>
        void ctx.approval.answerer('person', (asked) => {
          question = asked
          return { callId: asked.callId, kind: 'allow-once' }
        }),
    })
    await bench.call('probe', { n: 1 })
    for (const what of ['overlap', 'presentResult', 'render', 'finalize', 'verdict', 'guard'])
      expect(seen[what], what).toEqual({ n: 2 })
    expect(question).toMatchObject({ text: 'Allow probe(n=2)? really?', card: { title: 'probe 2' } })
    expect(probe.args).toEqual([{ n: 2 }])
  })
})
