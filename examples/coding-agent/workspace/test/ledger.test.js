import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ledger } from '../src/index.js'

function trip() {
  const ledger = new Ledger()
  ledger.add({ payer: 'ada', amount: '90.00', shares: { ada: 1, ben: 1, cleo: 1 } })
  ledger.add({ payer: 'ben', amount: '1.00', shares: { ada: 1, ben: 2, cleo: 3 } })
  return ledger
}

test('balances add up to zero', () => {
  const balances = Object.values(trip().balances())
  assert.equal(
    balances.reduce((sum, cents) => sum + cents, 0),
    0,
  )
})

test('each person is charged a fair share', () => {
  assert.deepEqual(trip().balances(), { ada: 5983, ben: -2933, cleo: -3050 })
})

test('the payments even everything out', () => {
  assert.deepEqual(trip().settle(), [
    { from: 'cleo', to: 'ada', cents: 3050 },
    { from: 'ben', to: 'ada', cents: 2933 },
  ])
})
