import { probeTool } from '@sluice/testkit'
import { type Call, forAgent } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { steps } from './kit.ts'
import { ask, judges, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

/** A bench with a probe, and a person who allows everything and counts the questions. */
async function guarded() {
  const bench = await soundBench({ approval: true })
  const probe = probeTool()
  await bench.register(probe.definition)
  const person = { asked: 0, onAsked: () => {} }
  await bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx) =>
      void ctx.approval.answerer('person', ({ callId }) => {
        person.asked++
        person.onAsked()
        return { callId, kind: 'allow-once' }
      }),
  })
  const guard = (name: string, check: (call: Call) => unknown) =>
    bench.plugin(`${name}-plugin`, (ctx) => void ctx.tools.guard(name, check as never))
  return { bench, probe, person, guard }
}

describe('guards', () => {
  // 5.1
  test('a reason denies, nothing abstains', async () => {
    const { bench, probe, guard } = await guarded()
    await guard('abstains', () => undefined)
    await bench.call('probe')
    expect(probe.runs).toBe(1)
    const fiber = await guard('no-probes', () => 'not today\ud800')
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toEqual({
      tag: 'denied',
      executed: 'no',
      stage: 'guards',
      by: `no-probes-plugin#${fiber.uid} (guard no-probes)`,
      reason: 'not today\ufffd',
    })
    expect(stepOf(settled, 'guards').reason).toBe('not today\ufffd')
    expect(probe.runs).toBe(1)
  })

  // 5.1
  test('a guard that answers with a promise is told that it is synchronous', async () => {
    const { bench, guard } = await guarded()
    for (const [answer, problem] of [
      [Promise.resolve(), 'a promise'],
      [{}, 'neither a reason nor undefined'],
    ] as const) {
      const fiber = await guard('odd', () => answer)
      const { outcome } = (await bench.call('probe')).result
      expect(outcome).toMatchObject({ reason: expect.stringContaining(problem) as string })
      await fiber.dispose()
    }
  })

  // 5.1, 4.5
  test('anything else is a throw that names the guard, a promise included', async () => {
    const { bench, probe, guard } = await guarded()
    const broken: Record<string, () => unknown> = {
      null: () => null,
      false: () => false,
      true: () => true,
      empty: () => '',
      'an object': () => ({ kind: 'deny', reason: 'x' }),
      'a promise': async () => undefined,
      'a promise of a reason': async () => 'no',
      'a rejected promise': () => Promise.reject(new Error('no')),
      'a thenable that throws': () => ({
        // oxlint-disable-next-line unicorn/no-thenable
        get then() {
          throw new Error('no then')
        },
      }),
      'a throw': () => {
        throw new Error('guard is broken')
      },
      'a throw of nothing': () => {
        throw undefined
      },
    }
    for (const [what, check] of Object.entries(broken)) {
      const fiber = await guard('broken', check)
      const settled = await bench.call('probe')
      expect(settled.result.outcome, what).toMatchObject({
        tag: 'denied',
        executed: 'no',
        stage: 'guards',
        by: `broken-plugin#${fiber.uid} (guard broken)`,
        code: expect.stringMatching(/^(TOOLS_BAD_ANSWER|LISTENER_FAILED)$/) as string,
      })
      expect(steps(settled)).toContain('guards:threw')
      await judges(bench, { asks: () => ask('may it?') }).then(async ([asks]) => {
        expect(steps(await bench.call('probe')), what).toContain('screen:threw')
        await asks?.dispose()
      })
      await fiber.dispose()
    }
    expect(probe.runs).toBe(0)
  })

  // 5.2
  test('global guards are asked first, then from the farthest scope to that of the agent, and the first reason wins', async () => {
    const { bench } = await guarded()
    const log: string[] = []
    const scopes = ['main/reviewer', undefined, 'main', 'other', 'main/reviewer/deep', undefined]
    for (const [i, scope] of scopes.entries())
      await bench.plugin(`g${i}`, (ctx) => {
        const own = scope === undefined ? ctx : forAgent(ctx, scope)
        own.tools.guard(scope ?? 'global', (call) => {
          log.push(scope ?? 'global')
          return scope !== undefined && call.args['stopAt'] === scope ? `stopped by ${scope}` : undefined
        })
      })
    await bench.call('probe', {}, { agent: 'main/reviewer' })
    expect(log.splice(0)).toEqual(['global', 'global', 'main', 'main/reviewer'])
    const { result } = await bench.call('probe', { stopAt: 'main' }, { agent: 'main/reviewer' })
    expect(log.splice(0)).toEqual(['global', 'global', 'main'])
    expect(result.outcome).toMatchObject({ reason: 'stopped by main' })
    await bench.call('probe')
    expect(log).toEqual(['global', 'global'])
  })

  // 5.3
  test('nobody is asked about a call that a guard refuses', async () => {
    const { bench, person, probe, guard } = await guarded()
    await judges(bench, { asks: () => ask('may it?') })
    await guard('refuses', () => 'never')
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'denied', stage: 'screen', reason: 'never' })
    expect(steps(settled).slice(2, 5)).toEqual(['pre-execute:ask', 'screen:deny', 'denied:denied'])
    expect([person.asked, probe.runs]).toEqual([0, 0])
  })

  // 5.3
  test('guards are asked again after the approval, on the state as it is then', async () => {
    const { bench, person, probe, guard } = await guarded()
    await judges(bench, { asks: () => ask('may it?') })
    let changed = false
    let looks = 0
    person.onAsked = () => (changed = true)
    await guard('state', () => (looks++, changed ? 'it has changed' : undefined))
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'denied', stage: 'guards', reason: 'it has changed' })
    expect(steps(settled).slice(3, 7)).toEqual([
      'screen:clear',
      'approval:allowed-once',
      'guards:deny',
      'denied:denied',
    ])
    expect([looks, person.asked, probe.runs]).toEqual([2, 1, 0])
  })

  // 5.3, 10.2
  test('guards see the state that the call before them in the queue has left', async () => {
    const { bench, probe, guard } = await guarded()
    await guard('once', () => (probe.runs > 0 ? 'only once' : undefined))
    const { calls } = await bench.ctx.tools.batch({
      session: bench.session,
      calls: ['a', 'b'].map((id) => ({ id, tool: 'probe', arguments: {} })),
    })
    expect(calls.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'denied'])
    expect(probe.runs).toBe(1)
  })

  // 5.1
  test('a guard goes with its plugin, or with its disposer', async () => {
    const { bench, probe } = await guarded()
    let dispose: (() => Promise<void>) | undefined
    const fiber = await bench.plugin('guarding', (ctx) => {
      ctx.tools.guard('kept', () => undefined)
      dispose = ctx.tools.guard('stops', () => 'stopped')
    })
    expect((await bench.call('probe')).result.outcome.tag).toBe('denied')
    await dispose?.()
    await bench.call('probe')
    expect(probe.runs).toBe(1)
    expect(bench.ctx.tools.live().guards.map(({ name }) => name)).toEqual(['kept'])
    await fiber.dispose()
    expect(bench.ctx.tools.live().guards).toEqual([])
  })

  // 5.1
  test('a guard whose plugin unloads between two guards counts as a throw', async () => {
    const { bench, probe, guard } = await guarded()
    const later: { dispose?: () => unknown } = {}
    await guard('first', () => void later.dispose?.())
    let dispose: (() => Promise<void>) | undefined
    await bench.plugin('second-plugin', (ctx) => {
      dispose = ctx.tools.guard('second', () => undefined)
    })
    later.dispose = () => dispose?.()
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'denied', code: 'LISTENER_GONE' })
    expect(stepOf(settled, 'guards').by).toMatch(/^second-plugin#\d+ \(guard second\)$/)
    expect(probe.runs).toBe(0)
  })
})
