import { everyCrash } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { checkTurn } from './turn-checks.ts'
import { dieInRecovery, turnOfEverything } from './turn-machine.ts'

// session-log.md 6.1
test('whatever prefix of the unsynced effects survives a death in a turn, nothing acknowledged is lost', async () => {
  const { make, act, told } = turnOfEverything()
  expect(await everyCrash({ make, act, check: (world) => checkTurn(world, told()) })).toBeGreaterThan(500)
})

test('after a death at any moment of a turn the machine may die again at any moment of the recovery', async () => {
  expect(await dieInRecovery(checkTurn)).toBeGreaterThan(800)
})
