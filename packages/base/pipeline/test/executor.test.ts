import {
  defineTable,
  type Detour,
  detours,
  type ExecutorHooks,
  firstBadStep,
  makeExecutor,
  paths,
  type StageTable,
  type Step,
} from '@sluice/pipeline'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { small, tableArb, text } from './tables.ts'

interface Subject {
  /** What happened, in order. */
  readonly log: string[]
  readonly trace: Step[]
  aborted: boolean
}

class Expiry extends Error {}

function subject(): Subject {
  return { log: [], trace: [], aborted: false }
}

const hooks: ExecutorHooks<Subject> = {
  record(s, stage, outcome) {
    s.log.push(`record ${stage}:${outcome}`)
    s.trace.push({ stage, outcome })
  },
  detourOf: (_s, error) => (error instanceof Expiry ? 'expired' : 'threw'),
  rescued(s, stage, detour, error) {
    s.log.push(`rescued ${stage} ${detour} ${error instanceof Error ? error.message : ''}`)
  },
  aborted: (s) => s.aborted,
}

const plain = {
  ask: (s: Subject) => (s.log.push('ask'), 'yes' as const),
  do: (s: Subject) => (s.log.push('do'), 'done' as const),
  mend: (s: Subject) => (s.log.push('mend'), 'mended' as const),
  show: (s: Subject) => (s.log.push('show'), 'shown' as const),
}

async function run(more: object = {}, s = subject(), moreHooks: Partial<ExecutorHooks<Subject>> = {}) {
  await makeExecutor<typeof small, Subject>(small, { ...plain, ...more }, { ...hooks, ...moreHooks })(s)
  return s
}

describe('executor', () => {
  // 1.3
  test('a step is recorded before the next stage starts', async () => {
    const { log } = await run({ do: async (s: Subject) => (await Promise.resolve(), s.log.push('do'), 'done') })
    expect(log).toEqual(['ask', 'record ask:yes', 'do', 'record do:done', 'show', 'record show:shown'])
  })

  // 1.3
  test('an outcome outside the row is a throw of its stage, whatever it is', async () => {
    const code = 'PIPELINE_BAD_OUTCOME'
    for (const answer of ['maybe', 'threw', 'constructor', '__proto__', undefined, null, 1, {}, Symbol('s')]) {
      for (const answered of [answer, Promise.resolve(answer)]) {
        const told: unknown[] = []
        const rescued = (s: Subject, stage: string, detour: Detour, error: unknown) => {
          told.push(error)
          hooks.rescued(s, stage, detour, error)
        }
        const { trace, log } = await run({ do: () => answered }, subject(), { rescued })
        expect(told).toMatchObject([{ code }])
        expect(text(trace)).toContain('["do","threw"],["mend","mended"]')
        expect(log.join()).toContain(`rescued do threw stage do answered ${String(answer)}, which is not in its row`)
      }
    }
  })

  test('a throw, a rejection and an expiry lead to the rescue, recorded after it has been told', async () => {
    const boom = () => {
      throw new Error('boom')
    }
    for (const fail of [boom, () => Promise.reject(new Error('boom')), async () => boom()]) {
      const { log } = await run({ ask: fail })
      expect(log).toEqual([
        'rescued ask threw boom',
        'record ask:threw',
        'mend',
        'record mend:mended',
        'show',
        'record show:shown',
      ])
    }
    const { trace } = await run({ ask: () => Promise.reject(new Expiry()) })
    expect(trace[0]).toEqual({ stage: 'ask', outcome: 'expired' })
  })

  test('an expiry in a stage whose row knows only throws counts as a throw', async () => {
    const { trace } = await run({ do: () => Promise.reject(new Expiry()) })
    expect(trace[1]).toEqual({ stage: 'do', outcome: 'threw' })
  })

  test('a throw in a stage without detours is thrown to the caller, and its step is not recorded', async () => {
    const s = subject()
    const show = () => {
      throw new Error('broken')
    }
    await expect(run({ show }, s)).rejects.toThrow('broken')
    expect(text(s.trace)).toBe('[["ask","yes"],["do","done"]]')
  })

  test('an abort is asked about before each stage that knows it, and runs nothing of that stage', async () => {
    const s = subject()
    s.aborted = true
    await run({}, s)
    expect(s.log.slice(0, 3)).toEqual(['rescued ask aborted ', 'record ask:aborted', 'mend'])
    const late = subject()
    await run({ ask: () => ((late.aborted = true), 'yes') }, late)
    expect(text(late.trace)).toBe('[["ask","yes"],["do","done"],["show","shown"]]')
  })

  test('an abort question that throws is a throw of the stage', async () => {
    const aborted = () => {
      throw new Error('no answer')
    }
    const { trace } = await run({}, subject(), { aborted })
    expect(trace[0]).toEqual({ stage: 'ask', outcome: 'threw' })
  })

  test('an executor is not made for an unsound table, nor without a handler of its own for each stage', () => {
    const unsound: StageTable = { ...small, start: 'nowhere' }
    expect(() => makeExecutor(unsound, plain as never, hooks)).toThrow(
      expect.objectContaining({ code: 'PIPELINE_UNSOUND', message: expect.stringContaining('nowhere') as string }),
    )
    const { do: _, ...without } = plain
    expect(() => makeExecutor(small, without as never, hooks)).toThrow('no handler for stage do')
    const inherited = defineTable({
      name: 'inherited',
      start: 'constructor',
      end: 'end',
      stages: { constructor: { does: 'Is called like a member of every object.', outcomes: { done: 'end' } } },
    })
    expect(() => makeExecutor(inherited as never, {} as never, hooks)).toThrow('no handler for stage constructor')
  })

  test('a defined table cannot be changed', () => {
    const table = defineTable(structuredClone(small))
    expect(() => Object.assign(table.stages.do.outcomes, { done: 'end' })).toThrow(TypeError)
    expect(() => (table.stages.ask.detours as unknown as string[]).pop()).toThrow(TypeError)
    expect(() => Object.assign(table, { rescue: 'ask' })).toThrow(TypeError)
  })

  test('every path and every detour of any table can be driven, and the trace is that path', async () => {
    await fc.assert(
      fc.asyncProperty(tableArb, async (table) => {
        const ways = [...paths(table), ...detours(table).map(({ path, step }) => [...path, step])].slice(0, 50)
        for (const way of ways) {
          const s = subject()
          await driven(table, (stage) => way.find((step) => step.stage === stage)?.outcome)(s)
          expect(text(s.trace.slice(0, way.length))).toBe(text(way))
          expect(firstBadStep(table, s.trace)).toBeUndefined()
        }
      }),
    )
  })

  test('random walks with throws, expiries, aborts and nonsense end, and leave a trace without a bad step', async () => {
    await fc.assert(
      fc.asyncProperty(tableArb, fc.infiniteStream(fc.nat({ max: 9 })), async (table, luck) => {
        const s = subject()
        const visited: string[] = []
        const execute = driven(table, (stage) => {
          visited.push(stage)
          const words = [...Object.keys(table.stages[stage]?.outcomes ?? {}), ...(table.stages[stage]?.detours ?? [])]
          return words[(luck.next().value as number) % words.length]
        })
        await execute(s)
        expect(firstBadStep(table, s.trace)).toBeUndefined()
        expect(new Set(visited).size).toBe(visited.length)
        expect(s.trace.map(({ stage }) => stage)).toEqual(visited)
      }),
    )
  })
})

/** An executor whose stages do what `wanted` says: give an outcome of the row, throw, expire, or be aborted before they start. */
function driven(table: StageTable, wanted: (stage: string) => string | undefined): (s: Subject) => Promise<void> {
  const plan = new Map<string, string | undefined>()
  const planned = (stage: string) => {
    if (!plan.has(stage)) plan.set(stage, wanted(stage))
    return plan.get(stage)
  }
  const act = (stage: string) => {
    const outcomes = table.stages[stage]?.outcomes ?? {}
    const word = planned(stage) ?? Object.keys(outcomes)[0] ?? ''
    if (Object.hasOwn(outcomes, word)) return word
    throw word === 'expired' ? new Expiry() : new Error('threw')
  }
  const stages = Object.keys(table.stages)
  const handlers = Object.fromEntries(stages.map((stage) => [stage, () => act(stage)]))
  const at = (s: Subject) => {
    const last = s.trace.at(-1)
    if (!last) return table.start
    const row = table.stages[last.stage]
    return Object.hasOwn(row?.outcomes ?? {}, last.outcome) ? row?.outcomes[last.outcome] : table.rescue
  }
  return makeExecutor(table, handlers as never, {
    ...hooks,
    aborted: (s: Subject) =>
      planned(at(s) ?? '') === 'aborted' && !Object.hasOwn(table.stages[at(s) ?? '']?.outcomes ?? {}, 'aborted'),
  })
}
