import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../src/index.ts'
import { jsonProblem } from '../src/json-problem.ts'

function parses(source: string): boolean {
  try {
    JSON.parse(source)
    return true
  } catch {
    return false
  }
}

describe('parseJson', () => {
  it('gives the value of a text', () => {
    expect(parseJson(' {"a": [1, "\\u00e9"]} ')).toEqual({ a: [1, 'é'] })
  })

  it.each<[string, number, string]>([
    ['', 0, 'the text is empty'],
    ['  ', 2, 'the text ends too early'],
    ['{"a":1', 6, 'the text ends too early'],
    ['{"path":"a","content":"xx', 25, 'a string does not end'],
    ['"a\\', 3, 'a string does not end'],
    ['"\\u00', 5, 'a string does not end'],
    ['[tru', 4, 'the text ends too early'],
    ['[1.', 3, 'the text ends too early'],
    ['{"a":}', 5, 'expected a value'],
    ['[1,]', 3, 'expected a value'],
    ['{"a":1,}', 7, 'expected a key in double quotes'],
    ["{'a':1}", 1, 'expected a key in double quotes'],
    ['{"a" 1}', 5, 'expected :'],
    ['{"a":1]', 6, 'expected , or }'],
    ['[1 2]', 3, 'expected , or ]'],
    ['{} {}', 3, 'text after the value'],
    ['{"a":1}}', 7, 'text after the value'],
    ['[01]', 1, 'expected a value'],
    ['[+1]', 1, 'expected a value'],
    ['[NaN]', 1, 'expected a value'],
    ['[nulls]', 1, 'expected a value'],
    ['"a\nb"', 2, 'a control character in a string; escape it'],
    ['"a\\x"', 2, 'an unknown escape in a string'],
    ['"\\u00zz"', 1, 'an unknown escape in a string'],
    ['\u00a0{}', 0, 'expected a value'],
  ])('says where and why %j is not JSON', (source, position, problem) => {
    expect(() => parseJson(source)).toThrow(
      expect.objectContaining({ code: 'JSON_UNPARSABLE', data: { position, problem } }) as Error,
    )
  })

  it('agrees with the engine about every damaged text', () => {
    const damage = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.nat(8),
      fc.constantFrom('', '"', '\\', '{', ']', ',', '0', 'e', '\n'),
    )
    fc.assert(
      fc.property(damage, ([text, at, cut, inserted]) => {
        const start = at % (text.length + 1)
        const damaged = text.slice(0, start) + inserted + text.slice(start + cut)
        const problem = jsonProblem(damaged)
        expect(problem === undefined).toBe(parses(damaged))
        if (problem) expect(problem.position).toBeLessThanOrEqual(damaged.length)
      }),
      { numRuns: 1000 },
    )
  })

  it('places the problem of a text that was cut off at its end', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (value, at) => {
        const text = JSON.stringify({ value })
        const cut = text.slice(0, 1 + (at % (text.length - 1)))
        expect(jsonProblem(cut)?.position).toBe(cut.length)
      }),
    )
  })
})
