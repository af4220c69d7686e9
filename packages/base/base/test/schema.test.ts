import { Type } from 'typebox'
import { Settings } from 'typebox/system'
import { describe, expect, it } from 'vitest'
import { PROBLEMS_MAX, schemaCheck } from '../src/index.ts'

const problems = (schema: object, value: unknown) =>
  schemaCheck(schema)
    .problems(value)
    .map(({ path, problem }) => `${path} ${problem}`)

describe('a schema check', () => {
  it('takes TypeBox, JSON Schema 2020-12 and draft-07', () => {
    expect(schemaCheck(Type.Object({ a: Type.String() })).test({ a: 'x' })).toBe(true)
    expect(schemaCheck({ $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }).test('x')).toBe(false)
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/n',
      definitions: { n: { type: 'number' } },
    }
    expect(schemaCheck(draft7).test(1)).toBe(true)
    expect(schemaCheck(draft7).test('x')).toBe(false)
  })

  it('is compiled once per schema', () => {
    const schema = { type: 'string' }
    expect(schemaCheck(schema)).toBe(schemaCheck(schema))
    expect(schemaCheck({ type: 'string' })).not.toBe(schemaCheck(schema))
  })

  it('throws what the compiler throws for a broken schema', () => {
    expect(() => schemaCheck({ type: 'string', pattern: '(' })).toThrow(SyntaxError)
  })

  it('lists every problem with its place', () => {
    const schema = Type.Object({
      path: Type.String(),
      edits: Type.Array(Type.Object({ line: Type.Integer({ minimum: 1 }) })),
    })
    expect(problems(schema, { path: 'a', edits: [] })).toEqual([])
    expect(problems(schema, { path: 1, edits: [{ line: 1 }, { line: 0 }, { line: 'x' }] })).toEqual([
      '$.path must be string',
      '$.edits[1].line must be >= 1',
      '$.edits[2].line must be integer',
    ])
    expect(problems(schema, {})).toEqual(['$ must have required properties path, edits'])
  })

  it('quotes keys that are no names', () => {
    const inner = { type: 'object', properties: { '~': { type: 'number' }, 0: { type: 'number' } } }
    const schema = { type: 'object', properties: { 'a/b': inner } }
    expect(problems(schema, { 'a/b': { '~': 'x', 0: 'y' } })).toEqual([
      '$["a/b"][0] must be number',
      '$["a/b"]["~"] must be number',
    ])
  })

  it('names the properties that it does not know', () => {
    const schema = { type: 'object', properties: { a: {} }, additionalProperties: false }
    expect(problems(schema, { a: 1, b: 2, c: 3 })).toEqual([
      '$.b is not a known property',
      '$.c is not a known property',
    ])
  })

  it.each<[object, unknown, string]>([
    [{ properties: { a: false } }, { a: 1 }, '$.a is not allowed'],
    [{ items: false }, [1], '$[0] is not allowed'],
    [{ $ref: '#/$defs/none' }, 1, '$ is not allowed'],
    [{ not: {} }, 1, '$ must not be valid'],
  ])('never refuses a value without a problem: %j', (schema, value, problem) => {
    expect(schemaCheck(schema).test(value)).toBe(false)
    expect(problems(schema, value)).toEqual([problem])
  })

  it('stops after a bounded number of problems and says so', () => {
    const list = problems(
      { items: { type: 'number' } },
      Array.from({ length: 100 }, () => 'x'),
    )
    expect(list).toHaveLength(PROBLEMS_MAX)
    expect(list.at(-1)).toBe(`$ has more problems than the ${PROBLEMS_MAX - 1} shown`)
    expect(Settings.Get().maxErrors, 'the compiler is left as it was').toBe(8)
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 1]))
    expect(problems({ additionalProperties: false }, unknown)).toHaveLength(PROBLEMS_MAX)
  })

  // BUG-077
  it('takes __proto__ and constructor for ordinary keys', () => {
    const value: unknown = JSON.parse('{"__proto__":{"isAdmin":true}}')
    expect(problems({ additionalProperties: false }, value)).toEqual(['$.__proto__ is not a known property'])
    expect(problems({ required: ['constructor'] }, {})).toEqual(['$ must have required properties constructor'])
  })
})
