import * as policy from '@sluice/timeout'
import { deadlineOf } from '@sluice/timeout'
import { describe, expect, test } from 'vitest'
import { policyBench } from '@sluice/testkit/host'

const mount = policyBench.bind(undefined, policy)

const forever = () => new Promise<never>(() => {})

describe('deadlines', () => {
  test('a body that does not end is timed out, and whether it took effect is unknown', async () => {
    const bench = await mount({ defaultMs: 1_000 }, { body: forever })
    const { result } = await bench.call()
    expect(result.outcome).toMatchObject({ tag: 'timed-out', executed: 'unknown', reason: 'no end within 1000 ms' })
    expect(bench.world.clock.monotonic()).toBe(3_000)
    expect(bench.world.clock.pending).toBe(0)
  })

  test('a body that follows its signal ends at the deadline, without the grace', async () => {
    const body = (_args: unknown, run: { signal: AbortSignal }) =>
      new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)))
    const bench = await mount({ defaultMs: 1_000 }, { body })
    const { result } = await bench.call()
    expect(result.outcome).toMatchObject({ tag: 'timed-out', executed: 'yes' })
    expect(bench.world.clock.monotonic()).toBe(1_000)
  })

  test('a deadline of the configuration for a tool wins over what the tool asks for, that over the default', () => {
    const config = { defaultMs: 100, tools: { slow: 900, constructor: 1 } }
    expect(deadlineOf(config, { tool: 'slow', timeoutMs: 500 })).toBe(900)
    expect(deadlineOf(config, { tool: 'other', timeoutMs: 500 })).toBe(500)
    expect(deadlineOf(config, { tool: 'other', timeoutMs: undefined })).toBe(100)
    expect(deadlineOf({ ...config, tools: {} }, { tool: 'constructor', timeoutMs: undefined })).toBe(100)
  })

  test('a tool cannot ask for no deadline, nor for one that is none', async () => {
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const bench = await mount({ defaultMs: 1_000 }, { body: forever, timeoutMs })
      expect((await bench.call()).result.outcome).toMatchObject({ tag: 'timed-out', reason: 'no end within 1000 ms' })
    }
  })

  test('the deadline covers all tries and what wrappers wait for between them', async () => {
    const bench = await mount(
      { defaultMs: 1_000 },
      { annotations: { readOnly: true }, body: () => Promise.reject(new Error('no')) },
    )
    await bench.plugin('again', (ctx) => {
      ctx.on('tools/execute', async (_call, run, next) => {
        while (!run.signal.aborted) {
          await next()
          await new Promise<void>((resolve) => bench.world.clock.timer(400, resolve))
        }
        return next()
      })
    })
    const { result } = await bench.call()
    expect(result.outcome.tag).toBe('timed-out')
    expect(bench.probe.runs).toBe(3)
    expect(bench.world.clock.monotonic()).toBe(1_200)
  })

  test('a call that ends in time has no timer left', async () => {
    const bench = await mount()
    expect((await bench.call()).result.outcome).toEqual({ tag: 'succeeded', executed: 'yes' })
    expect(bench.world.clock.pending).toBe(0)
  })

  test('impossible deadlines are refused when the policy is mounted', async () => {
    for (const config of [{ defaultMs: 0 }, { defaultMs: -5 }, { tools: { probe: 0 } }, { defaultMs: 'soon' }])
      await expect(mount(config)).rejects.toThrow()
  })

  test('unloading the policy denies calls until it is back, and leaves no wrapper behind', async () => {
    const bench = await mount()
    await bench.policy.dispose()
    expect((await bench.call()).result.outcome).toMatchObject({ code: 'TOOLS_POLICY_MISSING', by: 'timeout' })
    expect(bench.ctx.tools.live().listeners.get('tools/execute')).toEqual([])
  })
})
