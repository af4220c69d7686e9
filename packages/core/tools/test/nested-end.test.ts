/** Proves how nested calls end: bounds, cancellation, abandoned bodies, keys. */
import type { Run } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { dispatches, programs, refusalOf } from './programs.ts'

// 11.4
it('when the outer body settles, nested calls that still run are cancelled and awaited first', async () => {
  let aborted = false
  const { bench } = await programs((run) => {
    void run.call('slow', {})
    return new Promise((resolve) => setImmediate(() => resolve('done')))
  })
  await bench.register(
    probeTool({
      name: 'slow',
      body: (_args, run) =>
        new Promise((_resolve, reject) =>
          run.signal.addEventListener('abort', () => {
            aborted = true
            bench.world.clock.timer(50, () => reject(run.signal.reason as Error))
          }),
        ),
    }).definition,
  )
  const settled = await bench.call('program')
  expect(settled.result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes' }, value: 'done' })
  expect(aborted).toBe(true)
  expect(dispatches(bench)).toEqual(['c1.1 of c1 start', 'c1.1 of c1 settle'])
  const last = bench.session.events.at(-1)
  expect(last?.type).toBe('tool/result')
})

// 7.5, 11.4
it('what a body says while its nested calls are cancelled after it has settled does not count', async () => {
  const { bench } = await programs((run) => {
    run.context('in time')
    void run.call('slow', {})
    run.signal.addEventListener('abort', () => {})
    kept = run
    return new Promise((resolve) => setImmediate(() => resolve('done')))
  })
  let kept: Run | undefined
  await bench.register(
    probeTool({
      name: 'slow',
      body: (_args, run) =>
        new Promise((resolve) =>
          run.signal.addEventListener('abort', () => {
            kept?.endTurn()
            kept?.context('too late')
            resolve('cancelled')
          }),
        ),
    }).definition,
  )
  const { result } = await bench.call('program')
  expect(result).toMatchObject({ value: 'done', contexts: ['in time'], endTurn: false })
})

// 7.6, 11.4
it('the signal of a nested call that has ended does not fire any more', async () => {
  const signals: AbortSignal[] = []
  const { bench } = await programs((run) => run.call('keeps', {}))
  await bench.register(probeTool({ name: 'keeps', body: (_args, run) => void signals.push(run.signal) }).definition)
  const abort = new AbortController()
  await bench.plugin('stopper', (ctx) => {
    ctx.on('tools/post-execute', (call, _result, next) => {
      if (call.tool === 'program') abort.abort()
      return next()
    })
  })
  await bench.call('program', {}, { signal: abort.signal })
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
})

// 11.4
it('an abandoned outer body leaves no nested call open, and can make none any more', async () => {
  const abort = new AbortController()
  let kept: Run | undefined
  const { bench, probe } = await programs(
    (run) => {
      kept = run
      void run.call('deaf', {})
      abort.abort()
      return new Promise(() => {})
    },
    { config: { graceMs: 50 } },
  )
  await bench.register(probeTool({ name: 'deaf', body: () => new Promise(() => {}) }).definition)
  await bench.plugin('slow review', (ctx) => {
    ctx.on('tools/post-execute', async (_call, _result, next) => {
      await new Promise<void>((resolve) => bench.world.clock.timer(20, resolve))
      return next()
    })
  })
  const settling = bench.call('program', {}, { signal: abort.signal })
  await flushMicrotasks(1)
  expect((await refusalOf((kept as Run).call('probe', {}))).data).toMatchObject({ code: 'aborted', executed: 'no' })
  expect((await settling).result.outcome).toMatchObject({ tag: 'aborted', executed: 'unknown' })
  expect(await refusalOf((kept as Run).call('probe', {}))).toMatchObject({ code: 'TOOLS_RUN_OVER' })
  expect(probe.runs).toBe(0)
})

// 11.4, 10.2
it('an abandoned nested body keeps the keys of its outer call until it has ended', async () => {
  const late = deferred()
  const { bench } = await programs(
    (run) => {
      void run.call('deaf', {})
      return new Promise<void>((resolve) => setImmediate(resolve))
    },
    { config: { graceMs: 50 } },
  )
  await bench.register(probeTool({ name: 'deaf', body: () => late.promise }).definition)
  expect((await bench.call('program')).result.outcome.tag).toBe('succeeded')
  expect((await bench.call('probe')).result.outcome).toMatchObject({ tag: 'denied', code: 'TOOLS_KEY_HELD' })
  late.resolve()
  await flushMicrotasks()
  expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
})

// 11.4, 10.2
it('of several abandoned bodies of one call the last one to end gives back its keys', async () => {
  const ends = [deferred(), deferred()]
  const { bench } = await programs(
    (run) => {
      for (const n of [0, 1]) void run.call('deaf', { n })
      return new Promise<void>((resolve) => setImmediate(resolve))
    },
    { config: { graceMs: 50 } },
  )
  const deaf = probeTool({ name: 'deaf', overlap: 'parallel', body: ({ n }) => ends[n as number]?.promise })
  await bench.register(deaf.definition)
  await bench.call('program')
  const tags: string[] = []
  for (const end of ends) {
    end.resolve()
    await flushMicrotasks()
    tags.push((await bench.call('probe')).result.outcome.tag)
  }
  expect(tags).toEqual(['denied', 'succeeded'])
})

// 11.2
it('a thousand nested calls at once, not awaited, all have their results before the outer call has its own', async () => {
  const { bench, probe } = await programs((run) => {
    for (let i = 0; i < 1000; i++) void run.call('probe', { i })
    return run.call('probe', { last: true })
  })
  const settled = await bench.call('program')
  expect(settled.result.outcome.tag).toBe('succeeded')
  expect(dispatches(bench)).toHaveLength(2002)
  expect(probe.activeMax).toBeLessThanOrEqual(10)
})

// 11.2
it('how many nested calls one call makes, and how deep they stand, is bounded', async () => {
  const refusals = new Set<string>()
  const { bench } = await programs(async (run) => {
    const refused = Array.from({ length: 10_001 }, () => refusalOf(run.call('nowhere', {})))
    for (const { code } of await Promise.all(refused)) refusals.add(code)
  })
  let deepest = 0
  await bench.register(
    probeTool({
      name: 'self',
      body: async ({ depth }, run) => {
        deepest = Math.max(deepest, Number(depth))
        await run.call('self', { depth: Number(depth) + 1 })
      },
    }).definition,
  )
  await bench.call('program')
  expect([...refusals]).toEqual(['TOOLS_NESTED_FAILED', 'TOOLS_NESTED_LIMIT'])
  expect(dispatches(bench)).toHaveLength(20_000)
  const { result } = await bench.call('self', { depth: 1 })
  expect(result.outcome).toMatchObject({
    tag: 'failed',
    message: expect.stringContaining('16 calls inside each other'),
  })
  expect(deepest).toBe(16)
}, 120_000)

// 7.6, 11.4
it('a body that passes on how its nested call was aborted is aborted itself', async () => {
  const abort = new AbortController()
  const { bench } = await programs((run) => run.call('slow', {}))
  await bench.register(
    probeTool({
      name: 'slow',
      body: (_args, run) => {
        queueMicrotask(() => abort.abort(new Error('stop')))
        return new Promise((_resolve, reject) =>
          run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)),
        )
      },
    }).definition,
  )
  const { result } = await bench.call('program', {}, { signal: abort.signal })
  expect(result.outcome).toEqual({ tag: 'aborted', executed: 'yes', reason: 'stop' })
})
