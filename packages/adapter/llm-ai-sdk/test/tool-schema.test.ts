import type { Json, JsonObject } from '@sluice/base'
import { schemaCheck } from '@sluice/base'
import { strictSchema } from '@sluice/llm-ai-sdk'
import { expect, test } from 'vitest'

const combinators = ['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'enum', 'const', '$ref']

/** What strict endpoints ask of a root, and that each reference resolves inside. */
function strictlyAccepted(schema: JsonObject): void {
  expect(schema.type).toBe('object')
  expect(typeof schema.properties).toBe('object')
  for (const key of combinators) expect(Object.hasOwn(schema, key), `root has ${key}`).toBe(false)
  for (const ref of refsIn(schema)) {
    let place: Json | undefined = schema
    for (const key of ref.slice(2).split('/').filter(Boolean)) place = (place as JsonObject | undefined)?.[key]
    expect(place, `${ref} leads nowhere`).toBeDefined()
  }
}

function refsIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = (value as JsonObject).$ref
  return [...(typeof own === 'string' ? [own] : []), ...Object.values(value).flatMap((item) => refsIn(item as Json))]
}

const object = (properties: Json, rest: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...rest })
const string = { type: 'string' }

// BUG-065
test.each<[string, JsonObject, JsonObject]>([
  [
    'alternatives beside properties',
    object({ a: string, b: string }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    object({ a: string, b: string }, { description: 'Give the fields of one of these groups: a; b.' }),
  ],
  [
    'nothing but alternatives',
    {
      anyOf: [
        object({ a: string, id: string }, { required: ['a', 'id'] }),
        object({ b: string, id: string }, { required: ['b', 'id'] }),
        object({ id: { type: 'number' } }, { required: ['id'] }),
      ],
    },
    object(
      { a: string, id: { anyOf: [string, { type: 'number' }] }, b: string },
      { description: 'Give the fields of one of these groups: a, id; b, id; id.', required: ['id'] },
    ),
  ],
  ['no type', { properties: { a: string } }, object({ a: string })],
  ['no properties', { type: 'object' }, object({})],
  ['nothing at all', {}, object({})],
  ['several types', { type: ['object', 'null'], properties: { a: string } }, object({ a: string })],
  [
    'parts that must all hold',
    { allOf: [object({ a: string }, { required: ['a'] }), { properties: { b: string }, required: ['b'] }], title: 'T' },
    object({ a: string, b: string }, { title: 'T', required: ['a', 'b'] }),
  ],
  [
    'a reference',
    { $ref: '#/$defs/args', $defs: { args: object({ a: { $ref: '#/$defs/id' } }, { required: ['a'] }), id: string } },
    object(
      { a: { $ref: '#/$defs/id' } },
      {
        $defs: { args: object({ a: { $ref: '#/$defs/id' } }, { required: ['a'] }), id: string },
        required: ['a'],
      },
    ),
  ],
])('a root with %s becomes an object that strict endpoints take', (_, schema, expected) => {
  const { parameters, notes } = strictSchema(schema)
  strictlyAccepted(parameters)
  expect(parameters).toEqual(expected)
  expect(notes).toEqual([])
})

// BUG-065
test('the original schema is not touched, and still decides locally', () => {
  const schema = object({ a: string, b: string }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] })
  const before = JSON.stringify(schema)
  strictSchema(schema)
  expect(JSON.stringify(schema)).toBe(before)
  expect(schemaCheck(schema).test({})).toBe(false)
  expect(schemaCheck(schema).test({ a: '1' })).toBe(true)
})

test('a schema that strict endpoints take goes out as it is', () => {
  const schema = object(
    {
      a: { anyOf: [string, { type: 'null' }] },
      $ref: string,
      list: { type: 'array', items: { enum: ['x', { $ref: 'y' }] } },
    },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', 'x-other': [1], required: ['a'] },
  )
  expect(strictSchema(schema).parameters).toBe(schema)
})

// BUG-066
test('local references stay whole, recursive ones too', () => {
  const node = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } } }
  const schema = object({ root: { $ref: '#/$defs/node' } }, { $defs: { node } })
  expect(strictSchema(schema)).toEqual({ parameters: schema, notes: [] })
  const self = object({ next: { $ref: '#' } })
  expect(strictSchema(self)).toEqual({ parameters: self, notes: [] })
})

// BUG-066
test('a reference into a part that was folded is kept as a definition', () => {
  const schema = {
    anyOf: [object({ a: { type: 'object', properties: { again: { $ref: '#/anyOf/0/properties/a' } } } }), object({})],
  } as unknown as JsonObject
  const { parameters, notes } = strictSchema(schema)
  strictlyAccepted(parameters)
  expect(notes).toEqual([])
  const again = { type: 'object', properties: { again: { $ref: '#/$defs/copied1' } } }
  expect(parameters.properties).toEqual({ a: again })
  expect(parameters.$defs).toEqual({ copied1: again })
})

// BUG-066
test('a reference that leads nowhere or to another place is left open and noted', () => {
  const schema = object({
    a: { $ref: 'https://example.org/schema.json', description: 'A' },
    b: { $ref: '#/$defs/missing' },
    c: { $ref: '#here' },
    d: { $anchor: 'here', type: 'string' },
  })
  const { parameters, notes } = strictSchema(schema)
  expect(parameters.properties).toEqual({
    a: { description: 'A' },
    b: {},
    c: { $ref: '#here' },
    d: { $anchor: 'here', type: 'string' },
  })
  expect(notes).toEqual([
    'the reference https://example.org/schema.json leads nowhere inside the schema; anything is accepted there',
    'the reference #/$defs/missing leads nowhere inside the schema; anything is accepted there',
  ])
})

test('alternatives without end are followed to a bound', () => {
  const schema = { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }], properties: { a: string } } } }
  expect(strictSchema(schema as unknown as JsonObject).parameters.properties).toEqual({ a: string })
})

// BUG-077
test('fields with names of the language are fields like others', () => {
  const schema = JSON.parse(
    '{"anyOf":[{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}]}',
  ) as JsonObject
  const { parameters } = strictSchema(schema)
  expect(Object.keys(parameters.properties as JsonObject)).toEqual(['__proto__', 'constructor'])
  expect(parameters.required).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(parameters.properties)).toBe(Object.prototype)
})
