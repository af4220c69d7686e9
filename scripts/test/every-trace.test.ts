import type { Outcome } from '@sluice/session'
import { policyBench } from '@sluice/testkit/host'
import { expect, it } from 'vitest'
import { badTraces } from '../check/every-trace.ts'

const admitted = { stage: 'admit', outcome: 'admitted' }
const jumped = [admitted, { stage: 'execute', outcome: 'done' }]
const broken: Outcome = { tag: 'failed', executed: 'no', code: 'TOOLS_MACHINERY', message: 'broken' }

// docs-graphs 4
it('a trace that leaves the table fails the test that records it; that of a call whose machinery failed may only stop early', async () => {
  const bench = await policyBench({ name: 'nothing', apply: () => {} })
  const { data } = await bench.call()
  expect(badTraces()).toEqual([])
  const record = (trace: object[], outcome = data.outcome) => {
    const result = { ...data, outcome, trace: JSON.stringify(trace) }
    bench.session.append('tool/result', result)
    bench.session.append('tool/code-dispatch', { callId: 'c1.1', parent: 'c1', phase: 'settle', result })
    return badTraces()
  }
  const leaves = 'step 2 of a call: execute instead of prepare'
  const stops = 'step 2 of a call: the trace stops before prepare'
  expect(record(jumped)).toEqual([leaves, leaves])
  expect(record([admitted])).toEqual([stops, stops])
  expect(record(jumped, broken)).toEqual([leaves, leaves])
  expect(record([admitted], broken)).toEqual([])
  await bench.ctx.fiber.dispose()
})
