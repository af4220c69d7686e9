import { defineErrors } from '@sluice/base'
import * as policy from '@sluice/retry'
import { pauseBefore, worthAnotherTry } from '@sluice/retry'
import { traceOf } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { policyBench } from '@sluice/testkit/host'

const mount = policyBench.bind(undefined, policy)

const readOnly = { annotations: { readOnly: true } }
const errors = defineErrors({
  HOUSE_CLOSED: { when: 'in this test', message: () => 'closed', remedy: 'Come back.' },
})

/** A body that fails the first `times` times. */
function failing(times: number) {
  let left = times
  return () => {
    if (left-- > 0) throw new Error('busy')
    return 'done'
  }
}

describe('trying again', () => {
  test('a failed read-only or idempotent call runs again until it succeeds, each try recorded', async () => {
    for (const annotations of [{ readOnly: true }, { idempotent: true }]) {
      const bench = await mount({}, { annotations, body: failing(2) })
      const { result, data } = await bench.call()
      expect(result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes' }, value: 'done' })
      expect(bench.probe.runs).toBe(3)
      const tries = traceOf(data)?.find(({ stage }) => stage === 'execute')?.tries
      expect(tries).toMatchObject([
        { try: 1, status: 'failed' },
        { try: 2, status: 'failed' },
        { try: 3, status: 'succeeded' },
      ])
      expect(bench.world.clock.pending).toBe(0)
    }
  })

  test('a call that may change something is never run again', async () => {
    const bench = await mount({}, { body: failing(1) })
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'failed', message: 'busy' })
    expect(bench.probe.runs).toBe(1)
  })

  test('the number of tries is bounded, and the last failure is the result', async () => {
    const bench = await mount({ triesMax: 4 }, { ...readOnly, body: failing(99) })
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'failed', message: 'busy' })
    expect(bench.probe.runs).toBe(4)
    expect(bench.world.clock.monotonic()).toBe(200 + 400 + 800)
    const once = await mount({ triesMax: 1 }, { ...readOnly, body: failing(99) })
    await once.call()
    expect(once.probe.runs).toBe(1)
  })

  test('pauses double up to their bound', () => {
    const config = { triesMax: 9, backoffMs: 200, backoffMaxMs: 1_000, codes: [] }
    expect([2, 3, 4, 5, 9].map((number) => pauseBefore(config, number))).toEqual([200, 400, 800, 1_000, 1_000])
  })

  test('only failures that are listed are worth another try', async () => {
    const body = () => {
      throw errors('HOUSE_CLOSED', {})
    }
    const bench = await mount({}, { ...readOnly, body })
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'failed', code: 'HOUSE_CLOSED' })
    expect(bench.probe.runs).toBe(1)
    const listed = await mount({ codes: ['HOUSE_CLOSED'] }, { ...readOnly, body })
    await listed.call()
    expect(listed.probe.runs).toBe(3)
  })

  test('what timed out, was aborted or may still run is not tried again', () => {
    const config = { triesMax: 3, backoffMs: 1, backoffMaxMs: 1, codes: ['TOOLS_BODY_FAILED'] }
    const call = { annotations: { readOnly: true } }
    const failed = { status: 'failed', code: 'TOOLS_BODY_FAILED', message: 'x' } as const
    expect(worthAnotherTry(config, call, { ...failed, executed: 'yes' })).toBe(true)
    expect(worthAnotherTry(config, call, { ...failed, executed: 'unknown' })).toBe(false)
    expect(worthAnotherTry(config, call, { status: 'timed-out', executed: 'yes', reason: 'x' })).toBe(false)
    expect(worthAnotherTry(config, call, { status: 'aborted', executed: 'yes', reason: 'x' })).toBe(false)
    expect(worthAnotherTry(config, call, { status: 'succeeded', executed: 'yes', value: 1 })).toBe(false)
  })

  test('an abort in the pause ends the call at once with the failure it had', async () => {
    const controller = new AbortController()
    const bench = await mount({ backoffMs: 5_000 }, { ...readOnly, body: failing(99) })
    bench.world.clock.timer(100, () => controller.abort('stop'))
    const { result } = await bench.call({}, { signal: controller.signal })
    expect(result.outcome).toMatchObject({ tag: 'failed', message: 'busy', executed: 'yes' })
    expect(bench.world.clock.monotonic()).toBe(100)
    expect(bench.probe.runs).toBe(1)
    expect(bench.world.clock.pending).toBe(0)
  })

  test('a deadline around the tries ends the pause too', async () => {
    const bench = await mount({ backoffMs: 5_000 }, { ...readOnly, body: failing(99) })
    await bench.plugin('deadline', (ctx) => {
      ctx.on('tools/execute', (_call, run, next) => (run.deadline(1_000), next()), { order: -1 })
    })
    expect((await bench.call()).result.outcome).toMatchObject({ tag: 'failed', message: 'busy' })
    expect(bench.world.clock.monotonic()).toBe(1_000)
    expect(bench.probe.runs).toBe(1)
    expect(bench.world.clock.pending).toBe(0)
  })

  test('unloading the policy denies calls until it is back, and leaves no wrapper behind', async () => {
    const bench = await mount()
    await bench.policy.dispose()
    expect((await bench.call()).result.outcome).toMatchObject({ code: 'TOOLS_POLICY_MISSING', by: 'retry' })
    expect(bench.ctx.tools.live().listeners.get('tools/execute')).toEqual([])
  })
})
