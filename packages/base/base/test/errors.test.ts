import { describe, expect, it } from 'vitest'
import {
  assert,
  assertNever,
  AssertionError,
  DiskError,
  defineErrors,
  isDiskError,
  isSluiceError,
  messageOf,
} from '../src/index.ts'

const errors = defineErrors({
  AREA_FULL: {
    when: 'it is full',
    message: (d: { max: number }) => `full at ${d.max}`,
    remedy: 'Empty it.',
  },
  AREA_GONE: { when: 'it is gone', message: (_: { name: string }) => 'gone', remedy: 'Look elsewhere.' },
})

describe('an error table', () => {
  it('makes errors with code, data, message, remedy and cause', () => {
    const cause = new Error('below')
    const error = errors('AREA_FULL', { max: 3 }, { cause })
    expect(error).toMatchObject({
      name: 'SluiceError',
      code: 'AREA_FULL',
      data: { max: 3 },
      remedy: 'Empty it.',
      cause,
    })
    expect(error.message).toBe('full at 3')
    expect(error).toBeInstanceOf(Error)
  })

  it('can be read by whoever documents it', () => {
    expect(Object.keys(errors.table)).toEqual(['AREA_FULL', 'AREA_GONE'])
    expect(errors.table.AREA_GONE.when).toBe('it is gone')
  })

  // BUG-077
  it('has no rows but its own', () => {
    for (const code of ['AREA_OTHER', 'constructor', '__proto__', 'toString']) {
      expect(() => errors(code as 'AREA_FULL', { max: 1 })).toThrow(AssertionError)
    }
  })
})

describe('an expected failure', () => {
  it('is told by its code, from any copy of this package', () => {
    const error = errors('AREA_GONE', { name: 'x' })
    const fromAnotherCopy = Object.assign(new Error('x'), { name: 'SluiceError', code: 'AREA_GONE' })
    expect(isSluiceError(error)).toBe(true)
    expect(isSluiceError(error, 'AREA_GONE')).toBe(true)
    expect(isSluiceError(error, 'AREA_FULL')).toBe(false)
    expect(isSluiceError(fromAnotherCopy, 'AREA_GONE')).toBe(true)
    for (const other of [
      new Error('x'),
      { name: 'SluiceError', code: 'AREA_GONE' },
      undefined,
      null,
      'AREA_GONE',
      new DiskError('EIO', 'x'),
    ]) {
      expect(isSluiceError(other)).toBe(false)
    }
  })

  it('of the disk is told by its POSIX code', () => {
    const error = new DiskError('ENOSPC', 'full', '/a')
    expect(error).toMatchObject({ code: 'ENOSPC', path: '/a', message: 'full' })
    expect(isDiskError(error)).toBe(true)
    expect(isDiskError(error, 'ENOSPC')).toBe(true)
    expect(isDiskError(error, 'EIO')).toBe(false)
    expect(isDiskError(Object.assign(new Error('x'), { code: 'ENOSPC' }))).toBe(false)
  })
})

describe('the message of a thrown value', () => {
  const hostile = {
    toString(): string {
      throw new Error('no')
    },
  }
  // BUG-079
  it.each<[unknown, string]>([
    [new Error('why'), 'why'],
    [new RangeError(), 'RangeError'],
    ['text', 'text'],
    ['', 'an empty value was thrown'],
    [undefined, 'undefined'],
    [null, 'null'],
    [1n, '1'],
    [Symbol('s'), 'Symbol(s)'],
    [hostile, 'a value that cannot be shown was thrown'],
    [Object.create(null), 'a value that cannot be shown was thrown'],
    [Object.assign(new Error('x'), { message: { a: 1 } }), '[object Object]'],
    [Object.assign(new Error(''), { name: '' }), 'an error without a message'],
    [
      Object.defineProperty(new Error('x'), 'message', { get: () => hostile.toString() }),
      'a value that cannot be shown was thrown',
    ],
  ])('is a text that is not empty (%#)', (thrown, message) => {
    expect(messageOf(thrown)).toBe(message)
  })
})

describe('an assertion', () => {
  it('throws a mistake without a code when it does not hold', () => {
    expect(() => assert('yes', 'fine')).not.toThrow()
    expect(() => assert(0, 'never zero')).toThrow(AssertionError)
    expect(() => assertNever('left' as never)).toThrow('unexpected case: "left"')
    expect(new AssertionError('x')).not.toHaveProperty('code')
  })
})
