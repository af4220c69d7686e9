import { probeTool } from '@sluice/testkit'
import type { Verdict } from '@sluice/tools'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bench, steps } from './kit.ts'
import type { VerdictListener } from './listeners.ts'
import { soundBench } from './sound.ts'

type Said = Verdict['kind']

interface Plan {
  readonly name: string
  readonly said: Said
  /** How it comes to its verdict. */
  readonly form: 'at once' | 'later' | 'after next' | 'next twice' | 'next not awaited' | 'copies next' | 'mutates'
}

const trusted: readonly string[] = ['permissions', 'hooks']
const rank = { abstain: 0, allow: 1, ask: 2, deny: 3 } as const

const planArb: fc.Arbitrary<Plan> = fc.record({
  name: fc.constantFrom('permissions', 'hooks', 'stranger', 'other'),
  said: fc.constantFrom<Said>('abstain', 'allow', 'ask', 'deny'),
  form: fc.constantFrom<Plan['form']>(
    'at once',
    'later',
    'after next',
    'next twice',
    'next not awaited',
    'copies next',
    'mutates',
  ),
})

function verdictOf({ said }: Plan): Verdict {
  return said === 'ask' || said === 'deny' ? { kind: said, reason: said } : { kind: said }
}

function listenerOf(plan: Plan): VerdictListener {
  const verdict = verdictOf(plan)
  switch (plan.form) {
    case 'at once':
      return () => verdict
    case 'later':
      return async () => (await Promise.resolve(), verdict)
    case 'after next':
      return async (_call, next) => (await next(), plan.said === 'abstain' ? next() : verdict)
    case 'next twice':
      return async (_call, next) => (await Promise.all([next(), next()]), verdict)
    case 'next not awaited':
      return (_call, next) => (void next(), verdict)
    case 'copies next':
      // A copy of what next() gave would be a verdict of its own: only one who has something to say copies.
      return async (_call, next) => (plan.said === 'abstain' ? next() : { ...(await next()), ...verdict })
    case 'mutates':
      return async (call, next) => {
        const inner = await next()
        for (const target of [call, call.args, inner])
          for (const change of [
            () => Object.assign(target, { kind: 'allow', id: 'x' }),
            () => Object.setPrototypeOf(target, null),
          ])
            try {
              change()
            } catch {
              // Frozen, as it should be.
            }
        return verdict
      }
  }
}

/** What listeners say together, by the law: the strictest of what counts; `otherwise` when nothing does. */
function law(plans: readonly Plan[], otherwise: 'allow' | 'ask' | 'deny'): 'allow' | 'ask' | 'deny' {
  let strictest: Said = 'abstain'
  for (const { name, said } of plans)
    if (rank[said] > rank[strictest] && (said !== 'allow' || trusted.includes(name))) strictest = said
  // Only a plugin that may allow lifts a default denial.
  const lifted = plans.some(({ name, said }) => said !== 'abstain' && trusted.includes(name))
  return strictest === 'abstain' || (strictest === 'ask' && otherwise === 'deny' && !lifted) ? otherwise : strictest
}

async function outcomeOf(bench: Bench, plans: readonly Plan[]): Promise<string> {
  const fibers = []
  for (const [order, plan] of plans.entries())
    fibers.push(
      await bench.plugin(plan.name, (ctx) => void ctx.on('tools/pre-execute', listenerOf(plan) as never, { order })),
    )
  const settled = await bench.call('probe', { n: 1 })
  for (const fiber of fibers) await fiber.dispose()
  const outcome = steps(settled)
    .find((step) => step.startsWith('pre-execute:'))
    ?.slice('pre-execute:'.length)
  expect(settled.result.outcome.executed).toBe(outcome === 'allow' ? 'yes' : 'no')
  return outcome ?? 'none'
}

const shuffled = fc
  .array(planArb, { maxLength: 5 })
  .chain((plans) => fc.tuple(fc.constant(plans), fc.shuffledSubarray(plans, { minLength: plans.length })))

// 4.2, 4.3
describe('joining verdicts', () => {
  test('the outcome is the strictest verdict that counts, in every order and however it was given', async () => {
    for (const otherwise of ['allow', 'ask', 'deny'] as const) {
      const bench = await soundBench({ config: { otherwise } })
      const probe = probeTool()
      await bench.register(probe.definition)
      await fc.assert(
        fc.asyncProperty(shuffled, async ([plans, others]) => {
          const expected = law(plans, otherwise)
          expect(await outcomeOf(bench, plans)).toBe(expected)
          expect(await outcomeOf(bench, others)).toBe(expected)
        }),
        { numRuns: 60 },
      )
    }
  })

  test('one more listener never weakens an ask or a deny, and outside mayAllow it never permits more', async () => {
    const bench = await soundBench({ config: { otherwise: 'ask' } })
    await bench.register(probeTool().definition)
    await fc.assert(
      fc.asyncProperty(fc.array(planArb, { maxLength: 4 }), planArb, fc.nat({ max: 4 }), async (plans, more, at) => {
        const before = (await outcomeOf(bench, plans)) as Said
        const after = (await outcomeOf(bench, plans.toSpliced(at, 0, more))) as Said
        const decided = plans.some(({ said }) => said === 'ask' || said === 'deny')
        if (decided || !trusted.includes(more.name)) expect(rank[after]).toBeGreaterThanOrEqual(rank[before])
      }),
      { numRuns: 80 },
    )
  })
})
