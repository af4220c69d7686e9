import { everyCrash, keepAtRandom, seededRandom } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { check, dieTwice, reopen, run } from './crash-work.ts'

const TIMEOUT_MS = 240_000

test('whenever the machine dies, acknowledged events survive in order and the session goes on', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { make, act, told } = run(2)
  const states = await everyCrash({ make, act, check: (world) => check(world, told()) })
  expect(states).toBeGreaterThan(200)
})

test('the machine may die again at every moment of the recovery', { timeout: TIMEOUT_MS }, () => dieTwice(1, 3))

test('whatever part of the unsynced effects survives, nothing acknowledged is lost', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { make, act, told } = run(2)
  const random = seededRandom(7)
  await everyCrash({
    make,
    act,
    states: () => Array.from({ length: 4 }, (_, index) => ({ label: `choice ${index}`, keep: keepAtRandom(random) })),
    async check(world) {
      const session = await reopen(world)
      const { acknowledged } = told()
      if (!session) return expect(acknowledged).toEqual([])
      expect(session.events.slice(0, acknowledged.length)).toEqual(acknowledged)
    },
  })
})
