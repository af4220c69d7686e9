import { expect, test } from 'vitest'
import { editDistance } from '../src/index.ts'

test('two names are as far apart as characters have to be inserted, removed or replaced', () => {
  const distances = ['read', 'raed', 'reads', 'ad', '', 'write'].map((other) => editDistance('read', other))
  expect(distances).toEqual([0, 2, 1, 2, 4, 4])
  expect(editDistance('', 'abc')).toBe(3)
})
