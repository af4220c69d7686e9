import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMoney, parseMoney } from '../src/index.js'

test('amounts are read as whole cents', () => {
  assert.equal(parseMoney('12.5'), 1250)
  assert.equal(parseMoney(' -0.07 '), -7)
  assert.equal(parseMoney('3'), 300)
})

test('what is not an amount is refused', () => {
  for (const text of ['', '1.234', '1,50', 'ten']) assert.throws(() => parseMoney(text), RangeError)
})

test('cents are shown with two decimals', () => {
  assert.equal(formatMoney(1250), '12.50')
  assert.equal(formatMoney(-7), '-0.07')
})
