/** Proves what is recorded of wrappers, and that nothing of a wrapper outlives its answer. */
import type { Attempt } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { askedIn, saidBy, stepOf } from './listeners.ts'
import { type Bench } from './kit.ts'
import { soundBench } from './sound.ts'
import { wrap } from './wrappers.ts'

function wait(bench: Bench, ms: number): Promise<void> {
  return new Promise((resolve) => bench.world.clock.timer(ms, resolve))
}

// 12.1, 4.6
it('every wrapper is recorded in the order of asking, with its time less the wait in next()', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => wait(bench, 1000) }).definition)
  const slow = (ms: number) => async (_call: unknown, _run: unknown, next: () => Promise<Attempt>) => {
    await wait(bench, ms)
    const attempt = await next()
    await wait(bench, ms)
    return attempt
  }
  await wrap(bench, 'outer', slow(10), -1)
  await wrap(bench, 'inner', slow(1))
  const settled = await bench.call('probe')
  expect(askedIn(settled, 'execute')).toEqual(['outer:answered', 'inner:answered'])
  expect(['outer', 'inner'].map((name) => saidBy(settled, name, 'execute').ms)).toEqual([20, 2])
})

// 12.1
it('a wrapper that never answers is recorded as asked, and those behind it as not asked', async () => {
  const bench = await soundBench({ config: { graceMs: 10 } })
  await bench.register(probeTool().definition)
  const abort = new AbortController()
  await wrap(bench, 'deaf', () => (abort.abort(), new Promise(() => {})), -1)
  await wrap(bench, 'behind', (_call, _run, next) => next())
  const settled = await bench.call('probe', {}, { signal: abort.signal })
  expect(askedIn(settled, 'execute')).toEqual(['deaf'])
  expect(stepOf(settled, 'execute').unasked).toEqual([expect.stringMatching(/^behind#/)])
})

// 1.4
it('the time of a wrapper after next() is its own again', async () => {
  const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
  await bench.register(probeTool().definition)
  await wrap(bench, 'slow', async (_call, _run, next) => (await next(), wait(bench, 101)))
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', code: 'LISTENER_EXPIRED' })
  expect(askedIn(settled, 'execute')).toEqual(['slow:expired'])
})

// 7.7
it('the signals of a wrapper that has answered, and of the body inside it, do not fire any more', async () => {
  const bench = await soundBench()
  const signals: AbortSignal[] = []
  await bench.register(probeTool({ body: (_args, run) => void signals.push(run.signal) }).definition)
  await wrap(bench, 'timeout', (_call, run, next) => {
    signals.push(run.signal)
    run.deadline(1000)
    return next()
  })
  await wrap(bench, 'inner', (_call, run, next) => (signals.push(run.signal), next()), 1)
  const abort = new AbortController()
  await bench.plugin('stopper', (ctx) => {
    ctx.on('tools/post-execute', (_call, _result, next) => (abort.abort(), next()))
  })
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome.tag).toBe('succeeded')
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false])
})

// 7.2, 7.6
it('an abort fires the signal of the try that it meets, not that of an earlier one', async () => {
  const bench = await soundBench()
  const abort = new AbortController()
  const signals: AbortSignal[] = []
  const probe = probeTool({
    annotations: { idempotent: true },
    body: (_args, run) => {
      signals.push(run.signal)
      if (run.attempt === 2) abort.abort()
      throw new Error('failed')
    },
  })
  await bench.register(probe.definition)
  await wrap(bench, 'retry', async (_call, run, next) => {
    run.deadline(1000)
    await next()
    return next()
  })
  await bench.call('probe', {}, { signal: abort.signal })
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true])
})
