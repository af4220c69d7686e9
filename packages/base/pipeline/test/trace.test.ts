import { detours, firstBadStep, paths, type StageTable, type Step } from '@sluice/pipeline'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { allTraces, small, tableArb, text } from './tables.ts'

function steps(...said: string[]): Step[] {
  return said.map((one) => ({ stage: one.split(':')[0] ?? '', outcome: one.split(':')[1] ?? '' }))
}

// 1.2
describe('firstBadStep', () => {
  test('a trace from start to end is accepted, through a detour too', () => {
    expect(firstBadStep(small, steps('ask:yes', 'do:done', 'show:shown'))).toBeUndefined()
    expect(firstBadStep(small, steps('ask:yes', 'do:threw', 'mend:mended', 'show:shown'))).toBeUndefined()
  })

  test('a skipped stage, a foreign outcome, a missing end and a step after the end are named with their place', () => {
    const cases: [Step[], number, string][] = [
      [steps('do:done', 'show:shown'), 0, 'do instead of ask'],
      [steps('ask:yes', 'show:shown'), 1, 'show instead of do'],
      [steps('ask:maybe'), 0, 'ask has no outcome maybe'],
      [steps('ask:constructor'), 0, 'ask has no outcome constructor'],
      [steps('ask:yes', 'do:expired'), 1, 'do has no outcome expired'],
      [steps('ask:yes'), 1, 'the trace stops before do'],
      [[], 0, 'the trace stops before ask'],
      [steps('ask:no', 'show:shown', 'show:shown'), 2, 'a step after the end: show'],
    ]
    for (const [trace, index, problem] of cases) expect(firstBadStep(small, trace)).toEqual({ index, problem })
  })

  test('a table that starts at no stage accepts nothing', () => {
    const lost: StageTable = { ...small, start: 'constructor' }
    expect(firstBadStep(lost, [{ stage: 'constructor', outcome: 'name' }])).toMatchObject({ index: 0 })
  })

  test('it accepts exactly the traces that a table allows, and names the first step that leaves them', () => {
    const change = fc.record({
      pick: fc.nat(),
      at: fc.nat(),
      kind: fc.constantFrom('none', 'drop', 'twice', 'outcome', 'stage', 'cut', 'swap'),
      word: fc.constantFrom('threw', 'expired', 'aborted', '__proto__', 'constructor', 'x'),
    })
    fc.assert(
      fc.property(tableArb, change, (table, { pick, at, kind, word }) => {
        const all = allTraces(table)
        const trace = [...(all[pick % all.length] as Step[])]
        const i = at % trace.length
        const step = trace[i] as Step
        if (kind === 'drop') trace.splice(i, 1)
        else if (kind === 'twice') trace.splice(i, 0, step)
        else if (kind === 'outcome') trace[i] = { ...step, outcome: word }
        else if (kind === 'stage') trace[i] = { ...step, stage: word }
        else if (kind === 'cut') trace.length = i
        else if (kind === 'swap') trace.reverse()
        const bad = firstBadStep(table, trace)
        expect(bad === undefined).toBe(all.some((other) => text(other) === text(trace)))
        if (!bad) return
        const begins = (length: number) =>
          all.some((other) => other.length >= length && text(other.slice(0, length)) === text(trace.slice(0, length)))
        expect(begins(bad.index)).toBe(true)
        if (bad.index < trace.length) expect(begins(bad.index + 1)).toBe(false)
      }),
      { numRuns: 150 },
    )
  })
})

describe('paths and detours', () => {
  test('the small table has two paths and four detours, each with the shortest way to it', () => {
    expect(paths(small).map(text)).toEqual(
      [steps('ask:yes', 'do:done', 'show:shown'), steps('ask:no', 'show:shown')].map(text),
    )
    expect(detours(small)).toEqual([
      { path: [], step: { stage: 'ask', outcome: 'threw' } },
      { path: [], step: { stage: 'ask', outcome: 'expired' } },
      { path: [], step: { stage: 'ask', outcome: 'aborted' } },
      { path: steps('ask:yes'), step: { stage: 'do', outcome: 'threw' } },
    ])
  })

  test('paths are exactly the allowed traces without a detour, detours have each detour once', () => {
    fc.assert(
      fc.property(tableArb, (table) => {
        const isDetour = ({ stage, outcome }: Step) => !Object.hasOwn(table.stages[stage]?.outcomes ?? {}, outcome)
        const all = allTraces(table)
        expect(paths(table).map(text).sort()).toEqual(
          all
            .filter((trace) => !trace.some(isDetour))
            .map(text)
            .sort(),
        )
        const listed = detours(table)
        const wanted = Object.entries(table.stages).flatMap(([stage, row]) =>
          (row.detours ?? []).map((outcome) => text([{ stage, outcome }])),
        )
        expect(listed.map(({ step }) => text([step]))).toEqual(wanted)
        for (const { path, step } of listed) {
          expect(path.some(isDetour)).toBe(false)
          expect(firstBadStep(table, [...path, step])?.index).toBe(path.length + 1)
          const ways = all.filter((trace) => trace.some((one) => text([one]) === text([step])))
          expect(path.length).toBe(Math.min(...ways.map((way) => way.findIndex(({ stage }) => stage === step.stage))))
        }
      }),
    )
  })

  test('the ways of an unsound table are not listed', () => {
    const cyclic: StageTable = {
      name: 'cyclic',
      start: 'a',
      end: 'end',
      stages: { a: { does: 'A.', outcomes: { again: 'a', done: 'end' } } },
    }
    expect(() => paths(cyclic)).toThrow(expect.objectContaining({ code: 'PIPELINE_UNSOUND' }))
    expect(() => detours(cyclic)).toThrow(expect.objectContaining({ code: 'PIPELINE_UNSOUND' }))
  })

  test('a table with more than ten thousand paths is refused, not walked for ever', () => {
    const count = 40
    const stages = Object.fromEntries(
      Array.from({ length: count }, (_, i) => {
        const next = i + 1 < count ? `s${i + 1}` : 'end'
        return [`s${i}`, { does: 'Forks.', outcomes: { left: next, right: next } }]
      }),
    )
    expect(() => paths({ name: 'wide', start: 's0', end: 'end', stages })).toThrow(RangeError)
  })
})
