import { contractLimits } from '@sluice/code-mode/contract'
import { expect, test } from 'vitest'
import { loadEngine, World } from '../src/world.mjs'

test('what a world is asked after its program has come to wait is no time of the program', async () => {
  await loadEngine()
  const told: unknown[] = []
  const limits = { ...contractLimits }
  const world = new World(limits, (report: unknown) => void told.push(report))
  world.begin('await tools.wait({})', ['wait'])
  expect(world.report()).toMatchObject({ calls: '[0,0,{}]' })
  // Next to nothing is left. The engine looks at its limits once in some thousand steps.
  limits.activeMs = world.activeMs + 5
  const until = performance.now() + 20
  for (let n = 0; n < 10_000 || performance.now() < until; n++) world.report()
  expect(told).toEqual([])
  expect(world.dispose()).toBe(true)
})
