import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundedQueue } from '../src/index.ts'

describe('a bounded queue', () => {
  it('gives items in the order they came, and nothing when it is empty', () => {
    const queue = new BoundedQueue<number>('numbers', 3)
    queue.push(1)
    queue.push(2)
    expect([queue.shift(), queue.shift(), queue.shift()]).toEqual([1, 2, undefined])
  })

  it('refuses an item beyond its bound and takes one again after a shift', () => {
    const queue = new BoundedQueue<number>('numbers', 2)
    queue.push(1)
    queue.push(2)
    const refusal = {
      code: 'QUEUE_FULL',
      message: 'the queue numbers is full (2 items)',
      data: { name: 'numbers', max: 2 },
    }
    expect(() => queue.push(3)).toThrow(expect.objectContaining(refusal) as Error)
    queue.shift()
    queue.push(3)
    expect(queue.drain()).toEqual([2, 3])
  })

  it('is empty after it was drained, and can be used again', () => {
    const queue = new BoundedQueue<string>('texts', 10)
    for (const each of ['a', 'b', 'c']) queue.push(each)
    queue.shift()
    expect(queue.drain()).toEqual(['b', 'c'])
    expect([queue.size, queue.shift(), queue.drain()]).toEqual([0, undefined, []])
    queue.push('d')
    expect(queue.shift()).toBe('d')
  })

  it('behaves like an array with a bound', () => {
    const operation = fc.constantFrom<('push' | 'shift' | 'drain')[]>('push', 'push', 'push', 'shift', 'shift', 'drain')
    const run = fc.array(operation, { maxLength: 400, size: 'large' })
    fc.assert(
      fc.property(run, fc.integer({ min: 1, max: 200 }), (operations, max) => {
        const queue = new BoundedQueue<number>('model', max)
        const model: number[] = []
        const got: unknown[] = []
        const wanted: unknown[] = []
        for (const [i, each] of operations.entries()) {
          if (each === 'shift') {
            got.push(queue.shift())
            wanted.push(model.shift())
          } else if (each === 'drain') {
            got.push(queue.drain())
            wanted.push(model.splice(0))
          } else if (model.length < max) {
            queue.push(i)
            model.push(i)
          }
          got.push(queue.size)
          wanted.push(model.length)
        }
        expect(got).toEqual(wanted)
      }),
    )
  })

  it('lets go of items that were taken', () => {
    const queue = new BoundedQueue<object>('objects', 1000)
    for (let i = 0; i < 200; i++) queue.push({ i })
    for (let i = 0; i < 150; i++) queue.shift()
    const { items } = queue as unknown as { items: unknown[] }
    expect(items.filter((each) => each !== undefined)).toHaveLength(50)
    expect(items.length).toBeLessThan(200)
  })
})
