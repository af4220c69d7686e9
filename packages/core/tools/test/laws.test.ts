/** Proves the laws of permission over random listeners that also fail, hang and cheat, under random schedules. */
import { required, type Call, type Verdict } from '@sluice/tools'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { badStep, type Bench, makeBench, steps } from './kit.ts'
import { unsound } from './sound.ts'

const verdicts = ['abstain', 'allow', 'ask', 'deny'] as const
const failures = [
  'throws',
  'rejects',
  'hangs',
  'forgets to return',
  'denies without a reason',
  'talks nonsense',
] as const
const manners = [
  'at once',
  'later',
  'after next',
  'after next twice',
  'next not awaited',
  'changes what it gets',
] as const

interface Plan {
  readonly plugin: string
  readonly does: (typeof verdicts)[number] | (typeof failures)[number]
  readonly manner: (typeof manners)[number]
}

type Permission = 'allow' | 'ask' | 'deny'
const strictness = { abstain: 0, allow: 1, ask: 2, deny: 3 } as const
const trusted: readonly string[] = ['permissions', 'hooks']

const planArb: fc.Arbitrary<Plan> = fc.record({
  plugin: fc.constantFrom(...trusted, 'stranger'),
  does: fc.oneof({ arbitrary: fc.constantFrom(...verdicts), weight: 3 }, fc.constantFrom(...failures)),
  manner: fc.constantFrom(...manners),
})

/** How strict one listener is by itself: what is broken denies, an allow of a stranger is none. */
function strictnessOf({ does, plugin }: Plan): number {
  if (does === 'allow' && !trusted.includes(plugin)) return strictness.abstain
  return does in strictness ? strictness[does as keyof typeof strictness] : strictness.deny
}

/** The strictest counts. Without a word of a plugin that may allow, it is at least as strict as the default. */
function lawful(plans: readonly Plan[], otherwise: Permission): number {
  const strictest = Math.max(...plans.map(strictnessOf), 0)
  const lifted = plans.some(({ plugin, does }) => trusted.includes(plugin) && does !== 'abstain')
  return lifted ? strictest : Math.max(strictest, strictness[otherwise])
}

function answerOf({ does }: Plan): unknown {
  switch (does) {
    case 'throws':
      throw new Error('tripped')
    case 'rejects':
      return Promise.reject(new Error('tripped'))
    case 'hangs':
      return new Promise(() => {})
    case 'forgets to return':
      return undefined
    case 'denies without a reason':
      return { kind: 'deny' }
    case 'talks nonsense':
      return { kind: 'perhaps', reason: 'x' }
    case 'abstain':
    case 'allow':
    case 'ask':
    case 'deny':
      return { kind: does, reason: does }
  }
}

function tamper(...targets: unknown[]): void {
  for (const target of targets)
    for (const change of [
      () => Object.assign(target as object, { kind: 'allow', args: { forged: true } }),
      () => Object.defineProperty(target as object, 'forged', { value: true }),
      () => Object.setPrototypeOf(target, null),
    ])
      try {
        change()
      } catch {
        // Frozen, as it should be.
      }
}

function listenerOf(plan: Plan, scheduler: fc.Scheduler) {
  const pause = () => scheduler.schedule(Promise.resolve(), `${plan.plugin} ${plan.does}`)
  return (call: Call, next: () => PromiseLike<Verdict>): unknown => {
    const after = async (inner: readonly PromiseLike<Verdict>[]) => {
      const [passed] = await Promise.all(inner)
      await pause()
      return plan.does === 'abstain' ? passed : answerOf(plan)
    }
    switch (plan.manner) {
      case 'at once':
        return answerOf(plan)
      case 'later':
        return after([]).then((passed) => (plan.does === 'abstain' ? { kind: 'abstain' } : passed))
      case 'after next':
        return after([next()])
      case 'after next twice':
        return after([next(), next()])
      case 'next not awaited':
        void next()
        return answerOf(plan)
      case 'changes what it gets':
        tamper(call, call.args, call.annotations)
        return after([Promise.resolve(next()).then((inner) => (tamper(inner), inner))])
    }
  }
}

/** How strict the pipeline was with one call; checks on the way what must hold of every call. */
async function judge(
  plans: readonly Plan[],
  otherwise: Permission,
  scheduler: fc.Scheduler,
  more?: (bench: Bench) => Promise<unknown>,
) {
  const bench = await makeBench({ config: { otherwise, listenerTimeoutMs: 50 }, autoAdvance: false })
  const probe = probeTool()
  await bench.register(probe.definition)
  for (const [order, plan] of plans.entries())
    await bench.plugin(
      plan.plugin,
      (ctx) => void ctx.on('tools/pre-execute', listenerOf(plan, scheduler) as never, { order }),
    )
  await more?.(bench)
  let over = false
  const settling = bench.call('probe', { n: 1 }).finally(() => (over = true))
  for (;;) {
    await flushMicrotasks(1)
    if (over) break
    if (scheduler.count() > 0) await scheduler.waitOne()
    else await bench.world.clock.advance(50)
  }
  const settled = await settling
  while (scheduler.count() > 0) await scheduler.waitOne()
  await bench.world.clock.runUntilIdle()
  expect(unsound(bench.session)).toEqual([])
  expect(badStep(settled)).toBeUndefined()
  expect(bench.results()).toEqual([settled.data])
  expect(bench.world.clock.pending).toBe(0)
  const step = steps(settled)[2] ?? ''
  const given = step === 'pre-execute:allow' ? 'allow' : step === 'pre-execute:ask' ? 'ask' : 'deny'
  expect(probe.args).toEqual(given === 'allow' ? [{ n: 1 }] : [])
  return { strictness: strictness[given], outcome: settled.result.outcome }
}

const otherwiseArb = fc.constantFrom<Permission>('allow', 'ask', 'deny')

/** Holds a law for random listener sets, each judged twice. */
function underTwoSchedules<T>(
  sets: fc.Arbitrary<T>,
  law: (set: T, otherwise: Permission, one: fc.Scheduler, two: fc.Scheduler) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(sets, otherwiseArb, fc.scheduler(), fc.scheduler(), law)
  return fc.assert(property, { numRuns: 60 })
}

// 4.2, 4.3, 4.5
it('a call is permitted as the strictest listener says, in every order and under every schedule', async () => {
  const sets = fc
    .array(planArb, { maxLength: 5 })
    .chain((plans) => fc.tuple(fc.constant(plans), fc.shuffledSubarray(plans, { minLength: plans.length })))
  await underTwoSchedules(sets, async ([plans, others], otherwise, one, two) => {
    const law = lawful(plans, otherwise)
    expect((await judge(plans, otherwise, one)).strictness).toBe(law)
    expect((await judge(others, otherwise, two)).strictness).toBe(law)
  })
}, 120_000)

// 4.3
it('one more listener, broken or not, never weakens an ask or a deny, and outside mayAllow never permits more', async () => {
  const sets = fc.tuple(fc.array(planArb, { maxLength: 4 }), planArb, fc.nat({ max: 4 }))
  await underTwoSchedules(sets, async ([plans, more, at], otherwise, one, two) => {
    const before = (await judge(plans, otherwise, one)).strictness
    const after = (await judge(plans.toSpliced(at, 0, more), otherwise, two)).strictness
    const said = Math.max(...plans.map(strictnessOf), 0)
    if (said >= strictness.ask) expect(after).toBeGreaterThanOrEqual(said)
    if (!trusted.includes(more.plugin)) expect(after).toBeGreaterThanOrEqual(before)
  })
}, 120_000)

// 4.3, 4.4
it('a question of a plugin outside mayAllow does not lift a default denial, one of a plugin inside does', async () => {
  for (const [plugin, expected] of [
    ['stranger', strictness.deny],
    ['permissions', strictness.ask],
  ] as const) {
    const plans: Plan[] = [{ plugin, does: 'ask', manner: 'at once' }]
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        expect((await judge(plans, 'deny', scheduler)).strictness).toBe(expected)
      }),
      { numRuns: 1 },
    )
  }
})

/** Mounts a required policy that has one of the ends a policy may come to. */
async function lose(bench: Bench, how: 'pending' | 'failed' | 'unloaded', listener: object): Promise<void> {
  const apply = required((ctx: Bench['ctx']) => {
    if (how === 'failed') throw new Error('no configuration')
    ctx.on('tools/pre-execute', listener as never)
  })
  const inject = how === 'pending' ? ['tools', 'nowhere'] : ['tools']
  const fiber = bench.ctx.plugin({ name: 'permissions', inject, apply })
  if (how === 'unloaded') await (await fiber).dispose()
  else await Promise.resolve(fiber).catch(() => {})
}

// 4.4
it('a required policy that is pending, failed or unloaded never permits anything, whatever other listeners say', async () => {
  const lost = fc.constantFrom('pending', 'failed', 'unloaded')
  await fc.assert(
    fc.asyncProperty(
      fc.array(planArb, { maxLength: 3 }),
      planArb,
      lost,
      fc.scheduler(),
      async (plans, policy, how, scheduler) => {
        const { outcome } = await judge(plans, 'allow', scheduler, (bench) =>
          lose(bench, how, listenerOf(policy, scheduler)),
        )
        expect(outcome).toMatchObject({ tag: 'denied', executed: 'no', code: 'TOOLS_POLICY_MISSING' })
      },
    ),
    { numRuns: 40 },
  )
}, 120_000)
