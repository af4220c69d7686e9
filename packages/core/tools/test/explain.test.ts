/** Proves that the log alone explains a call, and what a call costs. */
import type { SessionEvent } from '@sluice/session'
import { explain, usedCallIds } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import { expect, it, vi } from 'vitest'
import type { Bench } from './kit.ts'
import { ask, judges } from './listeners.ts'
import { soundBench } from './sound.ts'

/** The account from a copy of the log, as another process would read it. */
function explained(bench: Bench, callId: string) {
  return explain(JSON.parse(JSON.stringify(bench.session.events)) as SessionEvent[], callId)
}

// 12.1
it('an explanation names every listener that was asked, what it said and why, and who was not asked', async () => {
  const bench = await soundBench({ config: { otherwise: 'ask' } })
  await bench.register(probeTool().definition)
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  const fibers = await judges(bench, {
    silent: (_call, next) => next(),
    permissions: () => ({ kind: 'allow', rule: 'probe' }),
    careful: async (_call, next) => {
      await wait(20)
      await next()
      return { kind: 'ask', reason: 'it looks odd', rule: 'odd(*)' }
    },
    strict: () => wait(300).then(() => ({ kind: 'deny', reason: 'not on Mondays', rule: 'Monday' })),
    late: (_call, next) => next(),
    later: (_call, next) => next(),
  })
  const [silent, permissions, careful, strict, late, later] = fibers.map(({ name, uid }) => `${name}#${uid}`)
  await bench.call('probe')
  expect(explained(bench, 'c1')).toMatchObject({
    callId: 'c1',
    tool: 'probe',
    outcome: { tag: 'denied', by: strict, reason: 'not on Mondays', rule: 'Monday', stage: 'pre-execute' },
    asked: [
      { stage: 'pre-execute', said: silent },
      { stage: 'pre-execute', said: { plugin: permissions, said: 'allow', rule: 'probe', ms: 0 } },
      { stage: 'pre-execute', said: { plugin: careful, said: 'ask', reason: 'it looks odd', rule: 'odd(*)', ms: 20 } },
      {
        stage: 'pre-execute',
        said: { plugin: strict, said: 'deny', reason: 'not on Mondays', rule: 'Monday', ms: 300 },
      },
    ],
    unasked: [
      { stage: 'pre-execute', plugin: late },
      { stage: 'pre-execute', plugin: later },
    ],
    blockers: [{ stage: 'pre-execute', by: strict, reason: 'not on Mondays', rule: 'Monday' }],
  })
})

// 12.1
it('an explanation names the guards that were asked in each of their stages, and those that were not', async () => {
  const bench = await soundBench({ config: { otherwise: 'ask' }, approval: true })
  await bench.register(probeTool().definition)
  await bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx) => void ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: 'allow-once' })),
  })
  let refuse = false
  const { uid } = await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('first', () => undefined)
    ctx.tools.guard('second', () => (refuse ? 'not any more' : void (refuse = true)))
    ctx.tools.guard('third', () => undefined)
  })
  const guard = (name: string) => `rules#${uid} (guard ${name})`
  await bench.call('probe')
  const account = explained(bench, 'c1')
  expect(account?.asked).toEqual([
    ...['first', 'second', 'third'].map((name) => ({ stage: 'screen', said: guard(name) })),
    ...['first', 'second'].map((name) => ({ stage: 'guards', said: guard(name) })),
  ])
  expect(account?.unasked).toEqual([{ stage: 'guards', plugin: guard('third') }])
  expect(account?.blockers).toEqual([{ stage: 'guards', by: guard('second'), reason: 'not any more' }])
  expect(account?.approval).toEqual({
    question: 'Allow probe? no rule allows this call',
    decision: 'allowed-once',
    by: 'person',
  })
})

// 12.1
it('an explanation names who was left out when a listener fails, in every stage', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  for (const event of ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute', 'guard'] as const) {
    const raise = () => {
      throw new Error('tripped')
    }
    const mount = (name: string, order: number, listener: (...all: unknown[]) => unknown) =>
      bench.plugin(name, (ctx) => {
        if (event === 'guard') ctx.tools.guard(name, listener as never)
        else ctx.on(event as 'tools/prepare', listener as never, { order })
      })
    const breaks = await mount('breaks', 1, raise)
    const left = await mount('left', 2, (...all) => (event === 'guard' ? undefined : (all.at(-1) as () => unknown)()))
    const { callId } = await bench.call('probe')
    const stage = event === 'guard' ? 'guards' : event.slice(6)
    const suffix = (name: string) => (event === 'guard' ? ` (guard ${name})` : '')
    const account = explained(bench, callId)
    expect(account?.unasked, event).toEqual([{ stage, plugin: `left#${left.uid}${suffix('left')}` }])
    expect(account?.steps.find(({ outcome }) => outcome === 'threw')).toMatchObject({
      stage,
      by: `breaks#${breaks.uid}${suffix('breaks')}`,
      reason: 'tripped',
    })
    expect(JSON.stringify(account?.asked.filter((one) => one.stage === stage)), event).toContain(`breaks#${breaks.uid}`)
    for (const fiber of [breaks, left]) await fiber.dispose()
  }
})

// 12.1
it('an explanation holds rewrites, tries and the approval, and the rules that were offered', async () => {
  const bench = await soundBench({ approval: true })
  await bench.register(
    probeTool({
      annotations: { idempotent: true },
      body: (_args, run) => (run.attempt === 1 ? Promise.reject(new Error('once more')) : 'done'),
    }).definition,
  )
  await bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx) =>
      void ctx.approval.answerer('person', ({ callId }) => ({
        callId,
        kind: callId === 'c1' ? 'allow-once' : 'reject',
        message: 'rather not',
      })),
  })
  const offers = [{ id: 'narrow', text: 'probe(x)' }]
  const [permissions] = await judges(bench, { permissions: () => ({ ...ask('no rule covers this'), offers }) })
  const { uid } = await bench.plugin('changer', (ctx) => {
    ctx.on('tools/prepare', (_call, next) => (next(), { x: 2 }))
    ctx.on('tools/execute', async (_call, _run, next) => {
      const first = await next()
      return first.status === 'failed' ? next() : first
    })
  })
  await bench.call('probe', { x: 1 })
  expect(explained(bench, 'c1')).toMatchObject({
    outcome: { tag: 'succeeded' },
    rewrites: [{ by: `changer#${uid}`, before: { x: 1 }, after: { x: 2 } }],
    approval: { question: 'Allow probe? no rule covers this', decision: 'allowed-once', by: 'person' },
    tries: [
      { try: 1, status: 'failed', executed: 'yes' },
      { try: 2, status: 'succeeded', executed: 'yes' },
    ],
    offers: [{ by: `permissions#${permissions?.uid}`, id: 'narrow', text: 'probe(x)' }],
    blockers: [],
  })
  await bench.call('probe', { x: 1 })
  expect(explained(bench, 'c2')).toMatchObject({
    approval: { decision: 'rejected', by: 'person', message: 'rather not' },
    blockers: [{ stage: 'approval', by: 'person', reason: 'rather not' }],
  })
})

// 12.1
it('a nested call is explained like others, a call that repair settled by its outcome, an unknown one not at all', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  await bench.register(probeTool({ name: 'outer', body: (_args, run) => run.call('probe', { n: 1 }) }).definition)
  await bench.call('outer')
  expect(explained(bench, 'c1.1')).toMatchObject({
    tool: 'probe',
    call: { arguments: { n: 1 } },
    outcome: { tag: 'succeeded' },
  })
  expect(explained(bench, 'c1.1')?.steps.at(-1)).toMatchObject({ stage: 'result', outcome: 'recorded' })
  expect(explained(bench, 'nobody')).toBeUndefined()
  const interrupted = bench.session.events.filter(({ type }) => type === 'tool/call')
  expect(explain(interrupted, 'c1')).toMatchObject({ outcome: undefined, steps: [], asked: [], unasked: [] })
})

// 12.2
it('a call without listeners sets no timer and makes no signal', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ annotations: { readOnly: true } }).definition)
  const timer = vi.spyOn(bench.world.clock, 'timer')
  const signals = vi.spyOn(AbortController.prototype, 'signal', 'get')
  await bench.call('probe')
  expect([timer.mock.calls.length, signals.mock.calls.length]).toEqual([0, 0])
  signals.mockRestore()
})

// 12.2
it('what a call does grows with the number of listeners, not with the length of the session', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  let asked = 0
  const add = (count: number) =>
    bench.plugin('counts', (ctx) => {
      for (let i = 0; i < count; i++)
        for (const event of ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)
          ctx.on(event as 'tools/prepare', ((...all: unknown[]) => (asked++, (all.at(-1) as () => unknown)())) as never)
    })
  const step = vi.spyOn(usedCallIds, 'step')
  const cost = async () => {
    asked = 0
    step.mockClear()
    const before = bench.session.events.length
    await bench.call('probe')
    return { asked, events: bench.session.events.length - before, steps: step.mock.calls.length }
  }
  await cost()
  await add(2)
  const two = await cost()
  await add(4)
  const six = await cost()
  expect([two.asked, six.asked]).toEqual([8, 24])
  for (let i = 0; i < 2000; i++)
    bench.session.append('user/message', { content: [{ type: 'text', text: 'x' }], source: 'user' })
  await cost()
  expect(await cost()).toEqual(six)
  step.mockRestore()
})
