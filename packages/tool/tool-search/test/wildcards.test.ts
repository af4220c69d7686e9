import { wildcards } from '../src/wildcards.ts'
import { expect, test } from 'vitest'

test.each([
  ['*.ts', ['a.ts', '.ts'], ['a.js', 'src/a.ts', 'ats']],
  ['**/*.ts', ['a.ts', 'src/a.ts', 'a/b/c.ts'], ['a.js']],
  ['src/**', ['src/a', 'src/a/b'], ['src', 'other/src/a']],
  ['a/**/b', ['a/b', 'a/x/y/b'], ['a/b/c', 'ab']],
  ['**/a/**/b/*', ['a/b/c', 'x/a/b/b/c'], ['a/c', 'b/a/c']],
  ['a?c', ['abc', 'a😀c'], ['ac', 'abbc']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a]x', ['bx'], ['ax', 'x']],
  ['[^a-]]', ['b]'], ['a]', '-]']],
  ['[]]x', [']x'], ['x']],
  ['[ax', ['[ax'], ['ax']],
  ['{a,b{c,d},}.x', ['a.x', 'bc.x', 'bd.x', '.x'], ['b.x']],
  ['f{8..10}', ['f8', 'f9', 'f10'], ['f7', 'f11', 'f1']],
  ['{a}/{}/{3..1}', ['{a}/{}/{3..1}'], ['a//']],
  ['\\*\\{a,b\\}', ['*{a,b}'], ['x{a,b}', '*a']],
  ['./a//*', ['a/b'], ['b']],
  ['*a*b*c*', ['abc', 'xaxbxcx', 'aabbcc'], ['acb', 'ab']],
  ['(x)+(y)!', ['(x)+(y)!'], ['xy']],
])('the pattern %s means %j and none of %j', (pattern, wanted, others) => {
  const isMatch = wildcards(pattern)
  expect([...wanted, ...others].filter(isMatch)).toEqual(wanted)
})

test('no pattern takes long, whatever names there are', () => {
  const name = 'a'.repeat(255)
  expect(wildcards(`${'*a'.repeat(250)}*b`)(name)).toBe(false)
  expect(wildcards(`${'**/a/'.repeat(500)}b`)('a/'.repeat(2000))).toBe(false)
  expect(wildcards('{'.repeat(5000))('{')).toBe(false)
})

test.each(['{a,b}'.repeat(40), '{1..9999}{1..9999}'])('braces that stand for too much are refused: %s', (pattern) => {
  expect(() => wildcards(pattern)).toThrow(expect.objectContaining({ code: 'SEARCH_PATTERN_TOO_WIDE' }))
})
