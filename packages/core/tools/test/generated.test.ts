/** Proves the table: a test per way through it, crossed with throw here, expire here and abort here, made from the table itself. */
import { detours, nextOf, paths, type StageTable, type Step } from '@sluice/pipeline'
import { callTable } from '@sluice/tools'
import { describe, expect, it } from 'vitest'
import { badStep, steps } from './kit.ts'
import { unsound } from './sound.ts'
import { drive } from './steering.ts'

function named(path: readonly Step[]): string {
  return path.map(({ stage, outcome }) => `${stage} ${outcome}`).join(', ')
}

/** Ways from `stage` to the end, by outcomes. */
function waysFrom(table: StageTable, stage: string): Step[][] {
  if (stage === table.end) return [[]]
  return Object.entries(table.stages[stage]?.outcomes ?? {}).flatMap(([outcome, next]) =>
    waysFrom(table, next).map((rest) => [{ stage, outcome }, ...rest]),
  )
}

/** Every way that leaves the table's outcomes once: each way to a stage, its detour there, each way on from the rescue. */
function detoured(table: StageTable): Step[][] {
  const ways = new Map<string, Step[]>()
  const rescued = waysFrom(table, table.rescue ?? table.end)
  for (const path of paths(table))
    for (const { step } of detours(table)) {
      const at = path.findIndex(({ stage }) => stage === step.stage)
      if (at < 0) continue
      for (const rest of rescued) {
        const way = [...path.slice(0, at), step, ...rest]
        ways.set(named(way), way)
      }
    }
  return [...ways.values()]
}

function edgesOf(table: StageTable): string[] {
  return Object.entries(table.stages).flatMap(([stage, row]) =>
    [...Object.keys(row.outcomes), ...(row.detours ?? [])].map((outcome) => `${stage}:${outcome}`),
  )
}

/** What the way of a call says about its end. */
function expected(way: readonly Step[]) {
  const took = (stage: string, outcome?: string) =>
    way.some((step) => step.stage === stage && (outcome === undefined || step.outcome === outcome))
  const known = took('admit', 'admitted') || took('admit', 'threw')
  const left = way.find(
    ({ stage, outcome }) => outcome === 'aborted' || outcome === 'threw' || outcome === 'expired' || stage === 'denied',
  )
  const blocked = took('post-execute', 'block') || took('finalize', 'dropped')
  const tag = () => {
    if (took('admit', 'unknown-tool')) return 'unknown-tool'
    if (took('admit', 'invalid') || took('prepare', 'invalid')) return 'invalid'
    if (left?.outcome === 'aborted') return 'aborted'
    if (left === undefined) return blocked ? 'failed' : 'succeeded'
    return ['admit', 'execute', 'post-execute'].includes(left.stage) ? 'failed' : 'denied'
  }
  const ran = took('execute', 'done')
  return {
    tag: tag(),
    executed: ran ? 'yes' : 'no',
    runs: ran ? 1 : 0,
    finalised: known ? 1 : 0,
    announced: 1,
    asked: took('approval') && !took('approval', 'threw') ? 1 : 0,
  }
}

const taken = new Set<string>()
const ways = [...paths(callTable), ...detoured(callTable)]

// 1.2
describe('a call goes every way that the table has', () => {
  it.each(ways.map((way) => [named(way), way] as const))('%s', async (_name, way) => {
    const { bench, settled, runs, finalised, announced, asked } = await drive(way)
    expect(steps(settled)).toEqual(way.map(({ stage, outcome }) => `${stage}:${outcome}`))
    for (const step of steps(settled)) taken.add(step)
    const { tag, executed } = settled.result.outcome
    expect({ tag, executed, runs, finalised, announced, asked }).toEqual(expected(way))
    expect(badStep(settled)).toBeUndefined()
    expect(bench.results().filter(({ callId }) => callId === settled.callId)).toEqual([settled.data])
    await bench.world.clock.runUntilIdle()
    expect(unsound(bench.session)).toEqual([])
    expect(bench.world.clock.pending).toBe(0)
  })
})

// 1.2
it('a call meets every detour of the table', () => {
  const crossed = new Set(detoured(callTable).flatMap((way) => way.map(({ stage, outcome }) => `${stage}:${outcome}`)))
  for (const { step } of detours(callTable)) expect(crossed).toContain(`${step.stage}:${step.outcome}`)
  for (const { path, step } of detours(callTable))
    expect(nextOf(callTable, step.stage, step.outcome), named(path)).toBe('normalize')
})

// 1.2
it('a stage or an outcome that is new in the table cannot be passed over', async () => {
  const { stages } = callTable
  const grown: StageTable[] = [
    {
      ...callTable,
      stages: { ...stages, guards: { ...stages.guards, outcomes: { ...stages.guards.outcomes, later: 'denied' } } },
    },
    { ...callTable, stages: { ...stages, denied: { ...stages.denied, detours: ['threw'] } } },
    {
      ...callTable,
      stages: {
        ...stages,
        audit: { does: 'x', outcomes: { noted: 'result' } },
        finalize: { ...stages.finalize, outcomes: { finalized: 'audit', dropped: 'result' } },
      },
    },
  ]
  const known = new Set(edgesOf(callTable))
  for (const table of grown) {
    const added = [...paths(table), ...detoured(table)].filter((way) =>
      way.some(({ stage, outcome }) => !known.has(`${stage}:${outcome}`)),
    )
    expect(added.length).toBeGreaterThan(0)
    for (const way of added) await expect(drive(way)).rejects.toThrow(/no rule steers a call to/)
  }
})

// 1.2
it('the calls that went every way took every edge of the table', () => {
  expect([...taken].sort()).toEqual(edgesOf(callTable).sort())
})
