/** Proves that nested calls are put to a person one by one, and that waiting for them costs no time. */
import type { SessionEvent } from '@sluice/session'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { asking, person, programs } from './programs.ts'

// 11.3, BUG-083
it('the approval of an outer call grants nothing inside', async () => {
  const { bench, probe } = await programs(
    (run) => run.call('probe', {}).catch((error: Error) => `no: ${error.message}`),
    {
      approval: true,
      config: { otherwise: 'ask' },
    },
  )
  const asked: string[] = []
  await person(bench, (callId) => {
    asked.push(callId)
    return { callId, kind: callId === 'c1' ? 'allow-once' : 'reject' }
  })
  const { result } = await bench.call('program')
  expect(asked).toEqual(['c1', 'c1.1'])
  expect(result.value).toMatch(/^no: /)
  expect(probe.runs).toBe(0)
})

// 7.6, 11.3, BUG-083
it('a deadline stands still while a nested call, however deep, waits for a person', async () => {
  const { bench, probe } = await programs((run) => run.call('middle', {}), { approval: true, config: { graceMs: 50 } })
  await bench.register(
    probeTool({
      name: 'middle',
      body: async (_args, run) => {
        await run.call('probe', {})
        await new Promise<void>((resolve) => bench.world.clock.timer(990, resolve))
        return 'in time'
      },
    }).definition,
  )
  await bench.plugin('timeout', (ctx) => {
    ctx.on('tools/execute', (_call, run, next) => {
      run.deadline(1000)
      return next()
    })
  })
  await asking(bench, 'probe')
  await person(
    bench,
    (callId) => new Promise((resolve) => bench.world.clock.timer(3000, () => resolve({ callId, kind: 'allow-once' }))),
  )
  const { result } = await bench.call('program')
  expect(result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes' }, value: 'in time' })
  expect(probe.runs).toBe(1)
  expect(bench.world.clock.monotonic()).toBe(3990)
})

// 7.6, BUG-083
it('a deadline goes on when the person has answered', async () => {
  const { bench } = await programs(
    async (run) => {
      await Promise.all([run.call('probe', {}), run.call('probe', {})])
      await new Promise<void>((resolve) => bench.world.clock.timer(2000, resolve))
    },
    { approval: true, config: { graceMs: 50 } },
  )
  await bench.plugin('timeout', (ctx) => {
    ctx.on('tools/execute', (call, run, next) => {
      if (call.tool === 'program') run.deadline(1000)
      return next()
    })
  })
  await asking(bench, 'probe')
  let wait = 0
  await person(
    bench,
    (callId) =>
      new Promise((resolve) => bench.world.clock.timer((wait += 1000), () => resolve({ callId, kind: 'allow-once' }))),
  )
  const { result } = await bench.call('program')
  expect(result.outcome).toMatchObject({ tag: 'timed-out' })
  expect(bench.world.clock.monotonic()).toBe(2000 + 1000 + 50)
})

// 6.4, 11.2, BUG-083
it('twenty nested calls that ask are twenty questions, each answered by its id', async () => {
  const { bench, probe } = await programs(
    async (run) => {
      const calls = Array.from({ length: 20 }, (_, i) =>
        run.call('probe', { i }).then(
          () => i,
          () => -1,
        ),
      )
      return Promise.all(calls)
    },
    { approval: true },
  )
  await asking(bench, 'probe')
  let open = 0
  await person(bench, (callId) => {
    open = Math.max(open, bench.ctx.approval.open().length)
    return flushMicrotasks().then(() => ({ callId, kind: Number(callId.slice(3)) % 2 === 0 ? 'allow-once' : 'reject' }))
  })
  const { result } = await bench.call('program')
  expect(result.value).toEqual(Array.from({ length: 20 }, (_, i) => (i % 2 === 1 ? i : -1)))
  expect([probe.runs, open]).toEqual([10, 20])
  const count = (type: string) => bench.session.events.filter((event: SessionEvent) => event.type === type).length
  expect([count('approval/asked'), count('approval/decided'), count('tool/code-dispatch')]).toEqual([20, 20, 40])
})

// 6.4, 11.4, BUG-083
it('an abort while nested calls ask settles them, their questions and the outer call', async () => {
  const abort = new AbortController()
  const { bench, probe } = await programs(
    (run) => Promise.allSettled(Array.from({ length: 5 }, () => run.call('probe', {}))).then(() => 'all over'),
    { approval: true, config: { graceMs: 50 } },
  )
  await asking(bench, 'probe')
  const signals: AbortSignal[] = []
  await bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx) =>
      void ctx.approval.answerer('person', ({ signal }) => {
        signals.push(signal)
        return new Promise(() => {})
      }),
  })
  const settling = bench.call('program', {}, { signal: abort.signal })
  await flushMicrotasks()
  expect(signals).toHaveLength(5)
  abort.abort()
  const settled = await settling
  expect(settled.result).toMatchObject({ outcome: { tag: 'succeeded', late: true }, value: 'all over' })
  expect(signals.every(({ aborted }) => aborted)).toBe(true)
  expect(bench.ctx.approval.open()).toEqual([])
  expect(probe.runs).toBe(0)
})
