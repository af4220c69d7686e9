import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fit, type Json, type JsonObject, lossless, schemaCheck } from '../src/index.ts'

const typeArb = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object')

const schemaArb = fc.letrec<{ any: JsonObject; object: JsonObject }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      typeArb.map((type) => ({ type })),
      fc.uniqueArray(typeArb, { minLength: 1, maxLength: 3 }).map((type) => ({ type })),
      fc.constant({}),
      fc.constant({ const: null }),
      fc.constant({ anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    ) as fc.Arbitrary<JsonObject>,
    fc.record({ type: fc.constant('array'), items: tie('any') }) as fc.Arbitrary<JsonObject>,
    fc.record({
      type: fc.constant('array'),
      prefixItems: fc.tuple(tie('any')),
      items: tie('any'),
    }) as fc.Arbitrary<JsonObject>,
    tie('object'),
  ),
  object: fc
    .record({
      properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('any'), { maxKeys: 3 }),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.boolean(),
    })
    .map((shape) => ({ type: 'object', ...shape }) as unknown as JsonObject),
}))

const valueArb = fc.letrec<{ any: Json; object: JsonObject }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(
      '12',
      '-1.5',
      '1e999',
      '012',
      'true',
      'null',
      '["3"]',
      '{"a":"1"}',
      'x',
      '',
      7,
      1.5,
      true,
      null,
    ),
    fc.array(tie('any'), { maxLength: 3 }),
    tie('object'),
    tie('any').map((value) => JSON.stringify(value)),
  ),
  object: fc
    .dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor'), tie('any'), { maxKeys: 3 })
    .map((value) => lossless({ ...value }) as JsonObject),
}))

const isObject = (value: Json | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Every place of `before` that fits its schema is the same in `after`. */
function expectKept(schema: JsonObject, before: Json, after: Json): void {
  if (schemaCheck(schema).test(before)) {
    if (!isDeepStrictEqual(before, after)) throw new Error(`${JSON.stringify(before)} fits ${JSON.stringify(schema)}`)
    return
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    expect(after.length).toBe(before.length)
    const first = (schema['prefixItems'] ?? []) as readonly JsonObject[]
    for (const [i, item] of (before as readonly Json[]).entries()) {
      const own = first[i] ?? schema['items']
      if (isObject(own)) expectKept(own, item, (after as readonly Json[])[i] as Json)
    }
  } else if (isObject(before) && isObject(after)) {
    const properties = isObject(schema['properties']) ? schema['properties'] : {}
    for (const [key, item] of Object.entries(before)) {
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined
      if (Object.hasOwn(after, key)) {
        if (isObject(own)) expectKept(own, item, after[key] as Json)
        else expect(after[key]).toEqual(item)
      } else {
        expect(item).toBeNull()
        expect(isObject(own) && schemaCheck(own).test(null)).toBe(false)
        expect((schema['required'] as Json[]).includes(key)).toBe(false)
      }
    }
    expect(Object.keys(after).every((key) => Object.hasOwn(before, key))).toBe(true)
  }
}

// 2.5
describe('repair', () => {
  test('never changes what already fits, at any depth', () => {
    fc.assert(
      fc.property(schemaArb.object, valueArb.object, (schema, value) => {
        const { value: fitted, repairs } = fit(schema, value)
        expectKept(schema, value, fitted)
        expect(repairs.length === 0).toBe(isDeepStrictEqual(fitted, value))
      }),
      { numRuns: 1_000 },
    )
  })

  test('is done in one go: what it leaves is repaired no further', () => {
    fc.assert(
      fc.property(schemaArb.object, valueArb.object, (schema, value) => {
        const { value: once } = fit(schema, value)
        expect(fit(schema, once as JsonObject).value).toEqual(once)
      }),
      { numRuns: 300 },
    )
  })

  test('follows references inside the schema, and gives up on those that lead nowhere or round in a circle', () => {
    const schema = {
      type: 'object',
      properties: {
        n: { $ref: '#/$defs/count' },
        x: { $ref: '#/$defs/none' },
        y: { $ref: '#/$defs/loop' },
        z: { $ref: '#/$defs/none/deeper' },
      },
      $defs: { count: { type: 'integer' }, loop: { $ref: '#/$defs/loop' }, 'a/b~c': { type: 'boolean' } },
    }
    const given = { n: '1', x: '1', y: '1', z: '1' }
    expect(fit(schema, given).value).toEqual({ ...given, n: 1 })
    const escaped = { ...schema, properties: { b: { $ref: '#/$defs/a~1b~0c' } } }
    expect(fit(escaped, { b: 'true' })).toMatchObject({ value: { b: true } })
    const tree = { type: 'object', properties: { n: { type: 'integer' }, next: { $ref: '#' } } }
    expect(fit(tree, { n: '1', next: { n: '2' } })).toMatchObject({ value: { n: 1, next: { n: 2 } } })
  })

  test('looks thirty-two levels deep and no deeper', () => {
    const tree = { type: 'object', properties: { n: { type: 'integer' }, next: { $ref: '#' } } }
    let value: JsonObject = { n: '1' }
    for (let i = 0; i < 200; i++) value = { n: '1', next: value }
    expect(fit(tree, value).repairs.length).toBeLessThan(40)
  })

  test('follows thirty-two references in a row and no more', () => {
    const chain = (length: number): JsonObject => {
      const links = Array.from({ length }, (_, i) => [`r${i}`, { $ref: `#/$defs/r${i + 1}` }])
      const $defs = { ...Object.fromEntries(links), [`r${length}`]: { type: 'integer' } } as JsonObject
      return { type: 'object', properties: { n: { $ref: '#/$defs/r0' } }, $defs }
    }
    expect([31, 32].map((length) => fit(chain(length), { n: '1' }).value)).toEqual([{ n: 1 }, { n: '1' }])
  })

  test('leaves a string alone where a string may stand, also beside what is repaired', () => {
    const properties = { a: { type: ['number', 'string'] }, b: { type: 'number' } }
    expect(fit({ type: 'object', properties }, { a: '1', b: '1' }).value).toEqual({ a: '1', b: 1 })
  })

  test('takes a string for any of several types, and leaves out a null where nothing is required', () => {
    const properties = { a: { type: ['boolean', 'integer'] }, b: { type: 'integer' } }
    expect(fit({ type: 'object', properties }, { a: '1', b: null }).value).toEqual({ a: 1 })
  })

  test('leaves what is no object alone where an object should be', () => {
    const object = { type: 'object', properties: { x: { type: 'integer' } } }
    const schema = { type: 'object', properties: { a: object, b: object, c: { type: 'integer' } }, required: ['b'] }
    expect(fit(schema, { a: 5, b: null, c: '1' }).value).toEqual({ a: 5, b: null, c: 1 })
  })

  test('leaves the first items of a list to their own schemas', () => {
    const q = { type: 'array', prefixItems: [{ type: ['integer', 'string'] }], items: { type: 'integer' } }
    expect(fit({ type: 'object', properties: { q } }, { q: ['12', '13'] }).value).toEqual({ q: ['12', 13] })
  })

  test('leaves a string that holds half a character alone', () => {
    const list = { type: 'object', properties: { q: { type: 'array' } } }
    expect(fit(list, { q: '["\\ud800"]' })).toEqual({ value: { q: '["\\ud800"]' }, repairs: [] })
  })
})
