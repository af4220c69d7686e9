import { everyCrash, keepPrefix } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { checkTurn } from './turn-checks.ts'
import { dieInRecovery, turnOfEverything } from './turn-machine.ts'

const TIMEOUT_MS = 240_000

// session-log.md 6.1; BUG-002. The slow tests look at every prefix and every recovery.
test('a machine that dies at any moment of a turn loses nothing acknowledged, runs nothing twice, and goes on', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { make, act, told } = turnOfEverything()
  const checked = await everyCrash({
    make,
    act,
    check: (world) => checkTurn(world, told()),
    states: () => [
      { label: 'a torn write after one effect', keep: keepPrefix(1, 9) },
      { label: 'all kept', keep: 'all' },
    ],
  })
  const whole = make()
  const before = whole.disk.effectCount
  await act(whole)
  // Two states for a death before each effect and for one after the last. The machine and its order of events are one and
  // the same each time, so the number changes with the code only.
  expect(checked).toBe(2 * (whole.disk.effectCount - before + 1))
})

// session-log.md 6.1
test('a machine that dies in a turn may die again at any moment of the recovery', { timeout: TIMEOUT_MS }, async () => {
  expect(await dieInRecovery(checkTurn, 12)).toBeGreaterThan(60)
})
