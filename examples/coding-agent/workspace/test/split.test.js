import assert from 'node:assert/strict'
import { test } from 'node:test'
import { split } from '../src/index.js'

test('an amount that divides evenly is split evenly', () => {
  assert.deepEqual(split(900, [1, 1, 1]), [300, 300, 300])
})

test('no cent is lost or invented', () => {
  for (let cents = 0; cents < 200; cents++) {
    const parts = split(cents, [3, 2, 1, 1])
    assert.equal(
      parts.reduce((sum, part) => sum + part, 0),
      cents,
    )
  }
})

test('a cent that is left over goes to the share that lost most by rounding', () => {
  // exact shares: 16.67, 33.33, 50.00
  assert.deepEqual(split(100, [1, 2, 3]), [17, 33, 50])
})

test('on a tie the earlier share gets the cent', () => {
  assert.deepEqual(split(100, [1, 1, 1]), [34, 33, 33])
})

test('a refund is split like the payment', () => {
  assert.deepEqual(split(-100, [1, 1, 1]), [-34, -33, -33])
})

test('weights that make no sense are refused', () => {
  assert.throws(() => split(100, [0, 0]), RangeError)
  assert.throws(() => split(100, [2, -1]), RangeError)
})
