import { flaws, type StageRow, type StageTable } from '@sluice/pipeline'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { small, tableArb } from './tables.ts'

type Rows = Record<string, StageRow>

function changed(change: (rows: Rows) => void, more: Partial<StageTable> = {}): StageTable {
  const rows = structuredClone(small.stages) as unknown as Rows
  change(rows)
  return { ...small, stages: rows, ...more }
}

function row(rows: Rows, stage: string, more: Partial<StageRow>): void {
  rows[stage] = { ...(rows[stage] as StageRow), ...more }
}

// 1.1
describe('flaws', () => {
  test('a sound table has no flaws', () => {
    expect(flaws(small)).toEqual([])
  })

  test('random sound tables have no flaws, whatever their stages are called', () => {
    fc.assert(
      fc.property(tableArb, (table) => {
        expect(flaws(table)).toEqual([])
      }),
    )
  })

  test('a stage that nothing leads to is a flaw', () => {
    const table = changed((rows) => row(rows, 'lost', { does: 'Is lost.', outcomes: { gone: 'show' } }))
    expect(flaws(table)).toEqual(['stage lost is never reached'])
  })

  test('an outcome without a target is a flaw', () => {
    const table = changed((rows) => row(rows, 'do', { outcomes: { done: 'nowhere' } }))
    expect(flaws(table)).toEqual(['do: done leads to nowhere, which is no stage'])
  })

  test('a target that only an object prototype has is no stage', () => {
    for (const target of ['constructor', '__proto__', 'toString'])
      expect(flaws(changed((rows) => row(rows, 'do', { outcomes: { done: target } })))).toEqual([
        `do: done leads to ${target}, which is no stage`,
      ])
  })

  test('a stage without an outcome is a flaw', () => {
    expect(flaws(changed((rows) => row(rows, 'do', { outcomes: {} })))).toEqual(['stage do has no outcome'])
  })

  test('a stage that says how it fails, though nothing of it can, is a flaw', () => {
    expect(flaws(changed((rows) => row(rows, 'do', { detours: [], failsAs: 'failed' })))).toEqual([
      'do: says how it fails, but has no detours',
    ])
  })

  test('an answer of a listener that is no outcome of its stage is a flaw', () => {
    const table = changed((rows) => row(rows, 'ask', { answers: ['yes', 'maybe', 'toString'] }))
    expect(flaws(table)).toEqual([
      'ask: a listener may answer maybe, which is no outcome',
      'ask: a listener may answer toString, which is no outcome',
    ])
  })

  test('a cycle is a flaw, of one stage and of several', () => {
    expect(flaws(changed((rows) => row(rows, 'do', { outcomes: { again: 'do', done: 'show' } })))).toEqual([
      'stage do can lead back to itself',
    ])
    expect(flaws(changed((rows) => row(rows, 'show', { outcomes: { shown: 'end', back: 'ask' } })))).toContain(
      'stage ask can lead back to itself',
    )
  })

  test('a cycle through the rescue is a flaw', () => {
    const table = changed((rows) => row(rows, 'mend', { outcomes: { mended: 'do' } }))
    expect(flaws(table)).toEqual(['stage do can lead back to itself'])
  })

  test('detours need a rescue that is a stage, is reached and leads to the end', () => {
    const { rescue: _, ...without } = changed(() => {})
    expect(flaws(without)).toContain('ask has detours, but the table has no rescue')
    expect(flaws(changed(() => {}, { rescue: 'nobody' }))).toContain('the rescue nobody is no stage')
    const unreached = changed((rows) => {
      row(rows, 'ask', { detours: [] })
      row(rows, 'do', { detours: [] })
    })
    expect(flaws(unreached)).toEqual(['stage mend is never reached'])
    const stuck = changed((rows) => row(rows, 'mend', { outcomes: {} }))
    expect(flaws(stuck)).toEqual(['stage mend has no outcome', 'the rescue mend does not lead to the end'])
  })

  test('a rescue with detours of its own is a flaw', () => {
    for (const detour of ['threw', 'expired', 'aborted'] as const)
      expect(flaws(changed((rows) => row(rows, 'mend', { detours: [detour] })))).toContain(
        'the rescue mend would rescue itself',
      )
  })

  test('a rescue may have an outcome that is called like a detour', () => {
    expect(flaws(changed((rows) => row(rows, 'mend', { outcomes: { threw: 'show' } })))).toEqual([])
  })

  test('one word for an outcome and a detour of the same stage is a flaw', () => {
    const table = changed((rows) => row(rows, 'do', { outcomes: { threw: 'show' } }))
    expect(flaws(table)).toEqual(['do: threw is both an outcome and a detour'])
  })

  test('a start that is no stage, and an end that is one, are flaws', () => {
    expect(flaws(changed(() => {}, { start: 'constructor' }))).toContain('the start constructor is no stage')
    expect(flaws(changed(() => {}, { end: 'show' }))).toContain('the end show is a stage')
  })
})
