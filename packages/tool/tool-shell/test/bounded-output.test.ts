import { expect, test } from 'vitest'
import { BoundedOutput, KEPT_CHARS_MAX } from '../src/bounded-output.ts'

test('what fits is shown whole', () => {
  const output = new BoundedOutput(10)
  for (const piece of ['ab', '', 'cdefgh', 'ij']) output.add(piece)
  expect(output.finish()).toEqual({ head: 'abcdefghij', tail: '', omitted: 0, kept: '', keptAll: true })
})

test('of more than fits head and tail are shown and the whole is kept, however it comes in pieces', () => {
  const whole = `abcde${'.'.repeat(50_000)}vwxyz`
  for (const size of [1, 3, 7, 100_000]) {
    const output = new BoundedOutput(10)
    for (let at = 0; at < whole.length; at += size) output.add(whole.slice(at, at + size))
    expect(output.finish()).toEqual({ head: 'abcde', tail: 'vwxyz', omitted: 50_000, kept: whole, keptAll: true })
  }
})

test('of more than is kept the beginning is kept, to the character', () => {
  const output = new BoundedOutput(10)
  output.add('a'.repeat(KEPT_CHARS_MAX - 1))
  output.add('bcd')
  output.add('efg')
  const { kept, keptAll, tail } = output.finish()
  expect([kept.length, kept.at(-1), keptAll, tail]).toEqual([KEPT_CHARS_MAX, 'b', false, 'cdefg'.slice(-5)])
})

test('no half character stands at a cut', () => {
  const output = new BoundedOutput(6)
  output.add('ab😀......😀yz')
  expect(output.finish()).toMatchObject({ head: 'ab', tail: 'yz', omitted: 10 })
})

test('the newest characters can be looked at while it runs', () => {
  const output = new BoundedOutput(10)
  output.add('abc')
  expect(output.latest(2)).toBe('bc')
  output.add('.'.repeat(100))
  expect(output.latest(3)).toBe('...')
})
