import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  isSluiceError,
  JSON_DEPTH_MAX,
  JSON_NODES_MAX,
  type Json,
  lossless,
  losslessCopy,
} from '../src/index.ts'

const cycle: Record<string, unknown> = {}
cycle['self'] = cycle

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

function thrownBy(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

function refusalOf(value: unknown): { path: string; problem: string } {
  const error = thrownBy(() => lossless(value))
  expect(isSluiceError(error, 'JSON_NOT_LOSSLESS')).toBe(true)
  return (error as { data: { path: string; problem: string } }).data
}

function assertDeepFrozen(value: Json): void {
  if (value === null || typeof value !== 'object') return
  expect(Object.isFrozen(value)).toBe(true)
  for (const item of Object.values(value)) assertDeepFrozen(item as Json)
}

class Custom {
  field = 1
}

describe('a lossless copy', () => {
  // BUG-079
  it.each<[string, unknown, string, string]>([
    ['undefined', undefined, '$', 'undefined'],
    ['a bigint', 1n, '$', 'bigint'],
    ['a bigint inside', { a: [1, 2, 3n] }, '$.a[2]', 'bigint'],
    ['a function', () => 1, '$', 'function'],
    ['a symbol', Symbol('s'), '$', 'symbol'],
    ['NaN', Number.NaN, '$', 'NaN'],
    ['infinity', { n: -Infinity }, '$.n', '-Infinity'],
    ['negative zero', [-0], '$[0]', 'negative zero'],
    ['a date', new Date(0), '$', 'an instance of Date'],
    ['a map', new Map([[1, 2]]), '$', 'an instance of Map'],
    ['a promise inside', { later: Promise.resolve(1) }, '$.later', 'an instance of Promise'],
    ['a buffer', Buffer.from('x'), '$', 'an instance of Buffer'],
    ['an object of a class', { it: new Custom() }, '$.it', 'an instance of Custom'],
    [
      'an object without a known class',
      Object.create({ constructor: undefined }),
      '$',
      'an instance of an unnamed class',
    ],
    ['a boxed string', Object('text'), '$', 'an instance of String'],
    ['a property that is undefined', { a: { b: undefined } }, '$.a.b', 'undefined'],
    ['a hole', Object.assign(new Array(3), { 0: 1, 2: 3 }), '$[1]', 'a hole in an array'],
    ['an array with a name', Object.assign([1], { name: 1 }), '$', 'an array with extra or hidden keys'],
    ['a symbol key', { [Symbol('s')]: 1 }, '$', 'hidden or symbol keys'],
    ['a hidden key', Object.defineProperty({}, 'a', { value: 1 }), '$', 'hidden or symbol keys'],
    ['a toJSON of its own', { toJSON: () => 1 }, '$.toJSON', 'function'],
    ['an odd key', { 'a b': { '': 1n } }, '$["a b"][""]', 'bigint'],
  ])('refuses %s and names the place', (_, value, path, problem) => {
    expect(refusalOf(value)).toEqual({ path, problem })
  })

  // BUG-079
  it('refuses a cycle and what nests too deep, without overflowing the stack', () => {
    const deep = `nested more than ${JSON_DEPTH_MAX} deep, or a cycle`
    expect(refusalOf(cycle).problem).toBe(deep)
    expect(refusalOf(nested(20_000)).problem).toBe(deep)
    expect(refusalOf(nested(JSON_DEPTH_MAX + 1)).problem).toBe(deep)
    expect(lossless(nested(JSON_DEPTH_MAX))).toEqual(nested(JSON_DEPTH_MAX))
  })

  // BUG-079
  it('refuses what cannot be read, and quotes why', () => {
    const throwing = {
      a: {
        get b(): unknown {
          throw new Error('no access')
        },
      },
    }
    expect(refusalOf(throwing)).toEqual({ path: '$.a.b', problem: 'reading it threw: no access' })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refusalOf([proxy]).path).toBe('$[0]')
  })

  // BUG-079
  it('reads each property once and keeps what it read', () => {
    let reads = 0
    const value = {
      get n() {
        return ++reads
      },
    }
    const copy = lossless(value)
    expect([copy, reads]).toEqual([{ n: 1 }, 1])
    expect(JSON.stringify(copy)).toBe('{"n":1}')
  })

  // BUG-079
  it('does not follow later changes of the original, and cannot be changed', () => {
    const original = { list: [1], map: { a: 1 } }
    const copy = lossless(original) as { list: number[]; map: { a: number } }
    original.list.push(2)
    original.map.a = 2
    expect(copy).toEqual({ list: [1], map: { a: 1 } })
    expect(() => copy.list.push(3)).toThrow(TypeError)
    expect(() => (copy.map.a = 3)).toThrow(TypeError)
    assertDeepFrozen(copy)
  })

  // BUG-075
  it('replaces halves of surrogate pairs in values and keys, and says how many strings it changed', () => {
    const { value, replaced } = losslessCopy({ a: '현\ud99c', b: ['\udc00x'], 'a\ud83d': '😀' })
    expect(value).toEqual({ a: '현\ufffd', b: ['\ufffdx'], 'a\ufffd': '😀' })
    expect(replaced).toBe(3)
    expect(JSON.stringify(value)).not.toMatch(/\\ud/i)
    expect(losslessCopy({ good: '😀' }).replaced).toBe(0)
  })

  // BUG-075
  it('drops no key when replacing makes two keys equal', () => {
    const problem = 'keys that differ in lone surrogates only'
    expect(refusalOf({ in: { 'a\ud83d': 1, 'a\ud83e': 2 } })).toEqual({ path: '$.in', problem })
    expect(refusalOf({ 'a\ud83d': 1, 'a\ufffd': 2 }).problem).toBe(problem)
  })

  // BUG-077
  it('keeps __proto__ and constructor as data, and changes no prototype', () => {
    const hostile: unknown = JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"s":"x"}')
    const copy = lossless(hostile) as Record<string, unknown>
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor', 's'])
    expect(copy['isAdmin']).toBeUndefined()
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined()
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile))
    expect(canonicalJson(copy as Json)).toContain('"__proto__":{"isAdmin":true}')
  })

  it('takes objects without a prototype', () => {
    expect(lossless(Object.assign(Object.create(null) as object, { a: 1 }))).toEqual({ a: 1 })
  })

  it('is returned as it is when it is copied again, also as a part of another', () => {
    const copy = lossless({ a: [1] }) as { a: readonly number[] }
    expect(lossless(copy)).toBe(copy)
    expect((lossless({ copy }) as { copy: unknown }).copy).toBe(copy)
  })

  it('is not trusted for its depth when it becomes a part of another', () => {
    const tall = lossless(nested(JSON_DEPTH_MAX - 1))
    expect(lossless([tall])).toEqual([tall])
    expect(refusalOf([[tall]]).problem).toContain('deep')
    const besideLow = lossless([nested(JSON_DEPTH_MAX - 2), []])
    expect(refusalOf([[besideLow]]).problem).toContain('deep')
  })

  it('does not trust a frozen value that it has not made', () => {
    const inner = { n: 1 }
    const shallow = Object.freeze({ inner })
    const copy = lossless(shallow)
    inner.n = 2
    expect(copy).toEqual({ inner: { n: 1 } })
    expect(refusalOf(Object.freeze({ at: new Date(0) })).path).toBe('$.at')
  })

  it('knows what it has made for certain: no proxy, heir, clone or look-alike of a copy counts as one', () => {
    const copy = lossless({ a: [1] }) as object
    const likes = [
      new Proxy(copy, {}),
      structuredClone(copy),
      { ...copy },
      Object.freeze(Object.defineProperties({}, Object.getOwnPropertyDescriptors(copy))),
    ]
    for (const like of likes) {
      const again = lossless(like)
      expect(again).toEqual(copy)
      expect(again).not.toBe(like)
      expect(lossless(again)).toBe(again)
    }
    for (const heir of [Object.create(copy) as object, Object.setPrototypeOf({ now: new Date(0) }, copy) as object])
      expect(refusalOf(heir).problem).toContain('an instance of')
    expect(() => Object.setPrototypeOf(copy, { now: new Date(0) })).toThrow(TypeError)
  })

  it('cuts the path of a refusal that lies deep under long keys', () => {
    let value: unknown = 1n
    for (let i = 0; i < 100; i++) value = { [`key ${i} ${'x'.repeat(100)}`]: value }
    const { path } = refusalOf(value)
    expect(path.length).toBeLessThan(600)
    expect(path).toMatch(/…$/)
  })

  it('equals what JSON would carry, for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const carried: unknown = JSON.parse(JSON.stringify(value))
        fc.pre(JSON.stringify(carried) === JSON.stringify(value) && !hasNegativeZero(value))
        const { value: copy, replaced } = losslessCopy(value)
        assertDeepFrozen(copy)
        if (replaced === 0) expect(copy).toEqual(carried)
        expect(JSON.stringify(copy).isWellFormed()).toBe(true)
        expect(JSON.stringify(lossless(copy))).toBe(JSON.stringify(copy))
      }),
    )
  })

  it('either equals its JSON or is refused, for any value at all', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
      stringUnit: 'binary',
    })
    fc.assert(
      fc.property(anything, (value) => {
        let copy: Json
        try {
          copy = lossless(value)
        } catch (error) {
          expect(isSluiceError(error, 'JSON_NOT_LOSSLESS')).toBe(true)
          return
        }
        expect(JSON.parse(JSON.stringify(copy))).toEqual(copy)
        if (JSON.stringify(value).isWellFormed() && !/\\ud[89a-f]/.test(JSON.stringify(value))) {
          expect(JSON.stringify(copy)).toBe(JSON.stringify(value))
        }
      }),
      { numRuns: 300 },
    )
  })
})

function hasNegativeZero(value: unknown): boolean {
  if (typeof value === 'number') return Object.is(value, -0)
  return value !== null && typeof value === 'object' && Object.values(value).some(hasNegativeZero)
}

describe('canonical JSON', () => {
  it('is equal for values that differ in the order of keys only', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}')
  })

  it('parses to the value it was made from, and is the same after a shuffle of keys', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        fc.pre(!hasNegativeZero(value))
        const copy = lossless(value)
        const shuffled = lossless(Object.fromEntries(Object.entries(value).reverse()))
        expect(JSON.parse(canonicalJson(copy))).toEqual(JSON.parse(JSON.stringify(copy)))
        expect(canonicalJson(shuffled)).toBe(canonicalJson(copy))
      }),
    )
  })
})

describe('a value with much in it', () => {
  const problem = `more than ${JSON_NODES_MAX} values`

  it('that is small only because it refers to the same part again and again is refused', () => {
    let shared: unknown = { leaf: true }
    for (let i = 0; i < 40; i++) shared = [shared, shared]
    expect(refusalOf({ shared })).toMatchObject({ problem })
    let made: unknown = lossless({ leaf: true })
    expect(() => {
      for (let i = 0; i < 40; i++) made = lossless({ first: made, second: made })
    }).toThrow(problem)
  })

  it('is refused before anything of it is copied when one array is too long', () => {
    expect(refusalOf(new Array(JSON_NODES_MAX + 1))).toEqual({ path: '$', problem })
  })

  it('does not count for each of its parts', () => {
    const [, part] = lossless([Array.from({ length: 600_000 }, () => 0), [1]]) as readonly Json[]
    expect(lossless([part as Json, part as Json])).toEqual([[1], [1]])
  })

  it('is copied up to the bound', () => {
    const row = lossless(Array.from({ length: 999 }, () => 0))
    expect(lossless(Array.from({ length: 1000 }, () => row))).toHaveLength(1000)
    expect(refusalOf(Array.from({ length: 1001 }, () => row))).toMatchObject({ path: '$[999]', problem })
  })
})
