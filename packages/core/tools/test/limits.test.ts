import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { describe, expect, test } from 'vitest'
import { type Bench, makeBench, steps } from './kit.ts'
import { ask, deny, judges, saidBy } from './listeners.ts'
import { soundBench } from './sound.ts'

const forever = () => new Promise<never>(() => {})

function wait(bench: Bench, ms: number): Promise<void> {
  return new Promise((resolve) => bench.world.clock.timer(ms, resolve))
}

// 1.4
describe('the time of a listener', () => {
  test('a listener that never answers is cut off, named, and the body does not run', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const mounted = await judges(bench, { hangs: forever })
    const settled = await bench.call('probe')
    expect(bench.world.clock.monotonic()).toBe(60_000)
    expect(settled.result.outcome).toMatchObject({
      tag: 'denied',
      executed: 'no',
      stage: 'pre-execute',
      by: expect.stringMatching(/^hangs#\d+$/) as string,
      code: 'LISTENER_EXPIRED',
    })
    expect(steps(settled).slice(2, 4)).toEqual(['pre-execute:expired', 'normalize:normalized'])
    await mounted[0]?.dispose()
    await bench.plugin('rewriter', (ctx) => void ctx.on('tools/prepare', forever))
    const second = await bench.call('probe')
    expect(second.result.outcome).toMatchObject({ tag: 'denied', stage: 'prepare', code: 'LISTENER_EXPIRED' })
    expect(steps(second)[1]).toBe('prepare:expired')
    expect(probe.runs).toBe(0)
    expect(bench.world.clock.pending).toBe(0)
  })

  test('the time can be set for all events, and for single ones', async () => {
    const bench = await soundBench({
      config: { listenerTimeoutMs: 500, listenerTimeouts: { 'tools/prepare': 70, constructor: 1 } },
    })
    await bench.register(probeTool().definition)
    const [hangs] = await judges(bench, { hangs: forever })
    await bench.call('probe')
    expect(bench.world.clock.monotonic()).toBe(500)
    await hangs?.dispose()
    await bench.plugin('rewriter', (ctx) => void ctx.on('tools/prepare', forever))
    expect((await bench.call('probe')).result.outcome).toMatchObject({
      reason: 'tools/prepare: no answer within 70 ms',
    })
    expect(bench.world.clock.monotonic()).toBe(570)
  })

  test('the clock of a listener stands still while it waits in next()', async () => {
    const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
    const probe = probeTool()
    await bench.register(probe.definition)
    await judges(bench, {
      outer: async (_call, next) => {
        await wait(bench, 60)
        await Promise.all([next(), next()])
        await next()
        await wait(bench, 30)
        return ask('outer')
      },
      middle: async (_call, next) => (await wait(bench, 90), next()),
      inner: async () => (await wait(bench, 80), ask('inner')),
    })
    const settled = await bench.call('probe')
    expect(steps(settled)[2]).toBe('pre-execute:ask')
    expect(bench.world.clock.monotonic()).toBe(260)
    // 4.6: time is noted without the wait in next().
    expect(saidBy(settled, 'outer').ms).toBe(90)
    expect(saidBy(settled, 'inner').ms).toBe(80)
  })

  test('time after next() counts again', async () => {
    const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
    await bench.register(probeTool().definition)
    await judges(bench, {
      outer: async (_call, next) => (await next(), wait(bench, 101)),
      inner: async () => (await wait(bench, 50), deny('inner')),
    })
    const settled = await bench.call('probe')
    expect(saidBy(settled, 'outer')).toMatchObject({ said: 'expired', ms: 100 })
    expect(bench.world.clock.monotonic()).toBe(150)
    await bench.world.clock.runUntilIdle()
  })

  test('no timer is left when a listener answers, throws, or is odd in how it promises', async () => {
    const bench = await makeBench()
    await bench.register(probeTool().definition)
    const answers: (() => unknown)[] = [
      async () => deny('no'),
      () => Promise.reject(new Error('no')),
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable
        then() {
          throw new Error('a thenable that throws')
        },
      }),
      // oxlint-disable-next-line unicorn/no-thenable
      () => Object.assign(Promise.resolve(deny('no')), { then: () => undefined }),
      () =>
        Object.assign(Promise.resolve(deny('no')), {
          // oxlint-disable-next-line unicorn/no-thenable
          then: () => {
            throw new Error('a promise that throws')
          },
        }),
      // oxlint-disable-next-line unicorn/no-thenable
      () => ({ then: (resolve: (value: unknown) => void) => (resolve(deny('no')), resolve({ kind: 'allow' })) }),
      // oxlint-disable-next-line unicorn/no-thenable
      () => Object.assign(() => {}, { then: (resolve: (value: unknown) => void) => resolve(deny('no')) }),
    ]
    for (const answer of answers) {
      const [fiber] = await judges(bench, { odd: answer })
      const { result } = await bench.call('probe')
      expect(result.outcome).toMatchObject({ tag: 'denied', by: expect.stringMatching(/^odd#/) as string })
      expect(bench.world.clock.pending).toBe(0)
      await fiber?.dispose()
    }
  })

  test('an answer that comes after the time has run out changes nothing', async () => {
    const bench = await soundBench({ config: { listenerTimeoutMs: 10 } })
    const probe = probeTool()
    await bench.register(probe.definition)
    const late = deferred<unknown>()
    const [slow] = await judges(bench, { permissions: () => late.promise })
    const settled = await bench.call('probe')
    late.resolve({ kind: 'allow' })
    await flushMicrotasks()
    expect(settled.result.outcome).toMatchObject({ tag: 'denied', code: 'LISTENER_EXPIRED' })
    expect(probe.runs).toBe(0)
    await slow?.dispose()
    const failing = deferred<unknown>()
    await judges(bench, { permissions: () => failing.promise })
    await bench.call('probe')
    failing.reject(new Error('late'))
    await flushMicrotasks()
  })
})

// 1.4, table: every abort before execute leads to normalize
describe('an abort while listeners are asked', () => {
  const hangs = { outer: async (_call: unknown, next: () => PromiseLike<unknown>) => next(), inner: forever }

  test('diverts at once, whoever hangs', async () => {
    const bench = await makeBench({ autoAdvance: false })
    const probe = probeTool()
    await bench.register(probe.definition)
    await judges(bench, hangs)
    const controller = new AbortController()
    const call = bench.call('probe', {}, { signal: controller.signal })
    await flushMicrotasks()
    controller.abort('enough')
    const settled = await call
    expect(settled.result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: 'enough' })
    expect(steps(settled).slice(2)).toEqual([
      'pre-execute:aborted',
      'normalize:normalized',
      'finalize:finalized',
      'result:recorded',
    ])
    expect(probe.runs).toBe(0)
    expect(bench.world.clock.pending).toBe(0)
  })

  test('diverts at once in prepare', async () => {
    const bench = await makeBench({ autoAdvance: false })
    await bench.register(probeTool().definition)
    await bench.plugin('rewriter', (ctx) => void ctx.on('tools/prepare', forever))
    const controller = new AbortController()
    const call = bench.call('probe', {}, { signal: controller.signal })
    await flushMicrotasks()
    controller.abort()
    expect((await call).result.outcome).toMatchObject({ tag: 'aborted', executed: 'no' })
    expect(steps(await call)[1]).toBe('prepare:aborted')
    expect(bench.world.clock.pending).toBe(0)
  })

  test('a listener that aborts its own call and then hangs is not waited for', async () => {
    const bench = await makeBench({ autoAdvance: false })
    await bench.register(probeTool().definition)
    const controller = new AbortController()
    await judges(bench, { stops: () => (controller.abort('stopped by a listener'), forever()) })
    const settled = await bench.call('probe', {}, { signal: controller.signal })
    expect(settled.result.outcome).toMatchObject({ tag: 'aborted', reason: 'stopped by a listener' })
    expect(bench.world.clock.pending).toBe(0)
  })

  test('nobody is asked any more after an abort', async () => {
    for (const event of ['tools/prepare', 'tools/pre-execute'] as const) {
      const bench = await makeBench({ autoAdvance: false })
      await bench.register(probeTool().definition)
      const controller = new AbortController()
      let asked = 0
      await bench.plugin('a-stops', (ctx) => {
        ctx.on(event, ((_call: unknown, next: () => unknown) => (controller.abort(), next())) as never)
      })
      await bench.plugin('b-counts', (ctx) => void ctx.on(event, () => (asked++, forever())))
      const settled = await bench.call('probe', {}, { signal: controller.signal })
      expect(settled.result.outcome).toMatchObject({ tag: 'aborted', executed: 'no' })
      expect(asked).toBe(0)
    }
  })

  test('a deny that was given before the abort stands', async () => {
    const bench = await makeBench({ autoAdvance: false })
    await bench.register(probeTool().definition)
    const controller = new AbortController()
    await judges(bench, { outer: async (_call, next) => (await next(), forever()), inner: () => deny('inner') })
    const call = bench.call('probe', {}, { signal: controller.signal })
    await flushMicrotasks()
    controller.abort()
    expect((await call).result.outcome).toMatchObject({ tag: 'denied', reason: 'inner' })
  })
})
