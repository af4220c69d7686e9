import { describe, expect, it } from 'vitest'
import { REPORT_LINES_MAX, reportOf } from '../src/index.ts'

const empty = { failed: [], pending: [], unsettled: [], cycles: [] }

describe('a report', () => {
  it('fits one screen and counts what it leaves out', () => {
    const failed = Array.from({ length: 100 }, (_, index) => ({
      plugin: `p${index}`,
      line: 1,
      problem: 'x'.repeat(1000),
      dependents: [],
    }))
    const lines = reportOf({ ...empty, failed }).split('\n')
    expect(lines).toHaveLength(REPORT_LINES_MAX)
    expect(lines.at(-1)).toBe('and 62 more lines')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(200)
  })

  it('says that all is well when it is', () => {
    expect(reportOf(empty)).toBe('every plugin is mounted')
  })

  it('shows the state of a provider that keeps somebody waiting', () => {
    const missing = [{ service: 's', providers: [{ plugin: 'b', why: 'active' as const }] }]
    expect(reportOf({ ...empty, pending: [{ plugin: 'a', missing }] })).toBe(
      '1 plugin is waiting\nwaiting  a needs s from b, which is mounted but has not given it to this plugin',
    )
  })
})
