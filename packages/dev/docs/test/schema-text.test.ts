import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { schemaText } from '../src/schema-text.ts'

describe('a schema as a type', () => {
  it.each([
    [Type.Object({ a: Type.String(), b: Type.Optional(Type.Number()) }), '{ a: string; b?: number }'],
    [Type.Array(Type.Union([Type.Literal('x'), Type.Null()])), '("x" | null)[]'],
    [Type.Object({}), '{}'],
    [Type.Record(Type.String(), Type.Boolean()), '{ [key: string]: boolean }'],
    [Type.Object({ 'a-b': Type.Unknown() }), '{ "a-b": unknown }'],
    [{ enum: [1, 'two'] }, '1 | "two"'],
    [{ type: 'array' }, 'unknown[]'],
    [{ $ref: '#/a' }, '{"$ref":"#/a"}'],
  ])('%# is short', (schema, text) => {
    expect(schemaText(schema as object)).toBe(text)
  })

  it('puts each choice of a long union on a line of its own', () => {
    const long = (name: string) => Type.Object({ kind: Type.Literal(name), text: Type.String(), more: Type.String() })
    const names = ['first', 'second', 'third']
    expect(schemaText(Type.Union(names.map(long))).split('\n')).toEqual([
      '',
      ...names.map((name) => `  | { kind: "${name}"; text: string; more: string }`),
    ])
  })

  it('puts each field of a long object on a line of its own', () => {
    const fields = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`field${index}`, Type.String()]))
    const text = schemaText(Type.Object({ inner: Type.Object(fields) }))
    expect(text.split('\n').slice(0, 3)).toEqual(['{', '  inner: {', '    field0: string'])
    expect(text.split('\n').slice(-2)).toEqual(['  }', '}'])
  })
})
