import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { required } from '@sluice/tools'
import type { Context, Fiber } from 'cordis'
import { describe, expect, test } from 'vitest'
import { type Bench, steps } from './kit.ts'
import { ask, judges, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

function policy(name: string, apply: (ctx: Context) => void | Promise<void> = () => {}, more: object = {}) {
  return { name, inject: ['tools'], apply: required(apply), ...more }
}

async function mounted() {
  const bench = await soundBench()
  const probe = probeTool()
  await bench.register(probe.definition)
  return { bench, probe }
}

async function expectMissing(bench: Bench, ...names: string[]): Promise<void> {
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({
    tag: 'denied',
    executed: 'no',
    stage: 'pre-execute',
    code: 'TOOLS_POLICY_MISSING',
    by: names.join(', '),
    reason: `required policy not active: ${names.join(', ')}`,
  })
  expect(stepOf(settled, 'pre-execute')).toMatchObject({ by: names.join(', '), code: 'TOOLS_POLICY_MISSING' })
}

// 4.4
describe('when nobody decides', () => {
  test('the composition decides when all abstain: ask unless it says otherwise', async () => {
    const asking = await soundBench({ config: { otherwise: undefined as never } })
    const probe = probeTool()
    await asking.register(probe.definition)
    expect(steps(await asking.call('probe')).slice(2, 5)).toEqual([
      'pre-execute:ask',
      'screen:clear',
      'approval:unavailable',
    ])
    const denying = await soundBench({ config: { otherwise: 'deny' } })
    await denying.register(probe.definition)
    expect((await denying.call('probe')).result.outcome).toMatchObject({ tag: 'denied', by: 'otherwise' })
    expect(probe.runs).toBe(0)
    const allowing = await soundBench({ config: { otherwise: 'allow' } })
    await allowing.register(probe.definition)
    await judges(allowing, { abstains: (_call, next) => next() })
    expect(stepOf(await allowing.call('probe'), 'pre-execute').by).toBe('otherwise')
    expect(probe.runs).toBe(1)
  })
})

// 4.4
describe('a required policy', () => {
  test('permits what it permits while it is active', async () => {
    const { bench, probe } = await mounted()
    await bench.ctx.plugin(policy('house'))
    await bench.call('probe')
    expect(probe.runs).toBe(1)
  })

  test('denies every call, by name, while it waits for a service', async () => {
    const { bench, probe } = await mounted()
    const waiting = bench.ctx.plugin(policy('house', () => {}, { inject: ['tools', 'absent'] })) as unknown as Fiber
    await expectMissing(bench, 'house')
    await bench.ctx.plugin({ name: 'absent', provide: ['absent'], apply: (ctx) => void ctx.provide('absent', {}) })
    await waiting.inertia
    await bench.call('probe')
    expect(probe.runs).toBe(1)
  })

  test('denies every call while it loads, and when it failed to', async () => {
    const { bench, probe } = await mounted()
    const loading = deferred()
    const fiber = bench.ctx.plugin(policy('house', () => loading.promise)) as unknown as Promise<Fiber>
    await flushMicrotasks()
    await expectMissing(bench, 'house')
    loading.reject(new Error('no configuration'))
    await Promise.allSettled([fiber])
    await expectMissing(bench, 'house')
    expect(probe.runs).toBe(0)
  })

  test('denies every call while it reloads, and after it was unloaded', async () => {
    const { bench, probe } = await mounted()
    const reloading = deferred()
    let loads = 0
    const apply = () => (loads++ === 0 ? undefined : reloading.promise)
    const fiber = (await bench.ctx.plugin(policy('house', apply as () => void))) as unknown as Fiber
    const update = fiber.restart()
    await flushMicrotasks()
    await expectMissing(bench, 'house')
    reloading.resolve()
    await update
    await bench.call('probe')
    expect(probe.runs).toBe(1)
    await fiber.dispose()
    await expectMissing(bench, 'house')
    await bench.ctx.plugin(policy('house'))
    await bench.call('probe')
    expect(probe.runs).toBe(2)
  })

  test('is missed when one of two instances is gone', async () => {
    const { bench } = await mounted()
    const plugin = policy('house')
    const first = (await bench.ctx.plugin(plugin)) as unknown as Fiber
    await bench.ctx.plugin(plugin)
    await first.dispose()
    await expectMissing(bench, 'house')
  })

  test('is named with the others that are missing', async () => {
    const { bench } = await mounted()
    const fibers = [await bench.ctx.plugin(policy('walls')), await bench.ctx.plugin(policy('doors'))]
    for (const fiber of fibers) await (fiber as unknown as Fiber).dispose()
    expect(bench.ctx.tools.live().required).toEqual(['doors', 'walls'])
    const { result } = await bench.call('probe')
    expect(result.outcome).toMatchObject({ reason: expect.stringMatching(/doors/) as string })
    expect(result.outcome).toMatchObject({ reason: expect.stringMatching(/walls/) as string })
  })

  test('that was mounted before the tools is known too', async () => {
    const { bench, probe } = await mounted()
    const fiber = (await bench.ctx.plugin(policy('house', () => {}, { inject: [] }))) as unknown as Fiber
    const tools = [...bench.ctx.registry.values()].find((runtime) => runtime.name === 'tools')
    const [owner] = tools ? [...tools.fibers] : []
    await owner?.restart()
    expect(owner).toBeDefined()
    expect(bench.ctx.tools.live().required).toEqual(['house'])
    await fiber.dispose()
    await expectMissing(bench, 'house')
    expect(probe.runs).toBe(0)
  })

  test('is looked for again right before the body, after the question and after the wait for a slot', async () => {
    const { bench, probe } = await mounted()
    const fiber = (await bench.ctx.plugin(policy('house'))) as unknown as Fiber
    await bench.ctx.plugin({
      name: 'approval',
      provide: ['approval'],
      apply: (ctx) =>
        void ctx.provide('approval', {
          ask: async () => (await fiber.dispose(), { decision: 'allowed-once', by: 'me' }),
        } as never),
    })
    await judges(bench, { asks: () => ask('may it?') })
    const settled = await bench.call('probe')
    expect(steps(settled).slice(2, 7)).toEqual([
      'pre-execute:ask',
      'screen:clear',
      'approval:allowed-once',
      'guards:deny',
      'denied:denied',
    ])
    expect(settled.result.outcome).toMatchObject({ stage: 'guards', code: 'TOOLS_POLICY_MISSING' })
    expect(probe.runs).toBe(0)
  })

  test('that comes back between the two looks is not missed', async () => {
    const { bench, probe } = await mounted()
    await bench.ctx.plugin(policy('house'))
    const roof = (await bench.ctx.plugin(policy('roof'))) as unknown as Fiber
    await judges(bench, { reloads: async (_call, next) => (await roof.restart(), next()) })
    await bench.call('probe')
    expect(probe.runs).toBe(1)
  })
})
