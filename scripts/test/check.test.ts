import { describe, expect, it } from 'vitest'
import { tally } from '../check/tally.mjs'

const ended = (taskId: string, exitCode: number, status = 'MISS') => ({
  taskId,
  cache: { status },
  execution: { startTime: 1000, endTime: 3500, exitCode },
})

const report = (...tests: [string, string][]) => ({
  testResults: [
    {
      name: 'a.test.ts',
      status: 'passed',
      assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
    },
  ],
})

describe('the counts of a check', () => {
  it('are the tests that passed and failed, and one for each other step', () => {
    const summary = { tasks: [ended('//#lint', 0), ended('//#unit', 1)] }
    const result = tally(['lint', 'unit'], summary, report(['works', 'passed'], ['breaks', 'failed']))
    expect(result).toMatchObject({ passed: 2, failed: 1 })
    expect(result.lines).toContain('FAILED  unit (2.5 s): 1 passed, 1 failed')
    expect(result.lines).toContain('        breaks')
  })

  it('come after a line for what this machine could not try', () => {
    const untried = 'confinement was not tried: bubblewrap (bwrap) is not installed'
    const result = tally(['unit'], { tasks: [ended('//#unit', 0)] }, report(['works', 'passed'], [untried, 'passed']))
    expect(result.lines.slice(1)).toEqual([`        ${untried}`])
  })

  it('name a step that failed and a step that never ran', () => {
    const result = tally(['lint', 'types'], { tasks: [ended('//#lint', 1)] }, undefined)
    expect(result.lines).toEqual(['FAILED  lint (2.5 s)', 'FAILED  types (did not run)'])
    expect(result).toMatchObject({ passed: 0, failed: 2 })
  })

  it('say when a step was not run because nothing changed since it passed', () => {
    const result = tally(['lint'], { tasks: [ended('//#lint', 0, 'HIT')] }, undefined)
    expect(result.lines[0]).toContain('unchanged since it last passed')
  })

  it('hold a failure when the test run failed although no test did', () => {
    const summary = { tasks: [ended('//#unit', 1)] }
    expect(tally(['unit'], summary, report(['works', 'passed']))).toMatchObject({ passed: 1, failed: 1 })
  })

  it('hold a failure when a test file could not be loaded', () => {
    const summary = { tasks: [ended('//#unit', 1)] }
    const broken = { testResults: [{ name: 'b.test.ts', status: 'failed', assertionResults: [] }] }
    expect(tally(['unit'], summary, broken)).toMatchObject({ passed: 0, failed: 1 })
  })

  it('hold a failure when there is no test report', () => {
    expect(tally(['unit'], { tasks: [ended('//#unit', 0)] }, undefined)).toMatchObject({ passed: 0, failed: 1 })
  })
})
