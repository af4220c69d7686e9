/** Proves time limits: one timer for all, each limit with a clock that can stand still. */
import { simClock } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { Watchdog, watchdogOf } from '../src/index.ts'

function watched() {
  const clock = simClock({ startAt: 0, autoAdvance: false })
  const dog = new Watchdog(clock)
  const expired: string[] = []
  const limit = (name: string, ms: number) => dog.limit(ms, () => void expired.push(`${name} at ${clock.monotonic()}`))
  return { clock, dog, expired, limit }
}

// 1.4
it('limits expire in the order in which they are due, each once, whatever order they were set in', async () => {
  const { clock, expired, limit } = watched()
  limit('late', 300)
  limit('early', 100)
  limit('middle', 200)
  limit('also early', 100)
  await clock.advance(1000)
  expect(expired).toEqual(['early at 100', 'also early at 100', 'middle at 200', 'late at 300'])
  expect(clock.pending).toBe(0)
})

// 1.4
it('limits that have ended never expire and leave no timer behind', async () => {
  const { clock, expired, limit } = watched()
  const limits = [limit('a', 100), limit('b', 50), limit('c', 70)]
  expect(clock.pending).toBe(1)
  for (const one of limits) one.end()
  expect(clock.pending).toBe(0)
  limits[0]?.end()
  await clock.advance(1000)
  expect(expired).toEqual([])
})

// 1.4
it('a limit that another one ends in the moment in which both are due does not expire', async () => {
  const { clock, dog, expired, limit } = watched()
  dog.limit(100, () => second.end())
  const second = limit('second', 100)
  await clock.advance(1000)
  expect(expired).toEqual([])
})

// 1.4
it('the time that has passed before a pause counts, the time of the pause does not', async () => {
  const { clock, expired, limit } = watched()
  const paused = limit('paused', 100)
  await clock.advance(70)
  paused.pause()
  paused.pause()
  await clock.advance(500)
  paused.resume()
  await clock.advance(500)
  expect(expired).toEqual([])
  paused.resume()
  await clock.advance(29)
  expect(expired).toEqual([])
  await clock.advance(1)
  expect(expired).toEqual(['paused at 1100'])
})

// 1.4
it('a limit that has ended sets no timer when its pause ends', () => {
  const { clock, limit } = watched()
  const one = limit('one', 100)
  one.pause()
  one.end()
  one.resume()
  expect(clock.pending).toBe(0)
})

// 4.6
it('the time that a limit has run does not grow while it is paused', async () => {
  const { clock, limit } = watched()
  const one = limit('one', 100)
  await clock.advance(30)
  one.pause()
  await clock.advance(500)
  expect(one.spentMs).toBe(30)
  one.resume()
  await clock.advance(10)
  expect(one.spentMs).toBe(40)
  one.end()
})

// 1.4
it('a limit that is paused holds no timer, and others expire meanwhile', async () => {
  const { clock, expired, limit } = watched()
  const paused = limit('paused', 100)
  paused.pause()
  limit('other', 150)
  await clock.advance(200)
  expect(expired).toEqual(['other at 150'])
  expect(clock.pending).toBe(0)
  paused.resume()
  expect(clock.pending).toBe(1)
  paused.end()
  expect(clock.pending).toBe(0)
})

// 1.4
it('a limit set while others expire takes its turn', async () => {
  const { clock, dog, expired, limit } = watched()
  dog.limit(100, () => void limit('grandchild', 50))
  await clock.advance(1000)
  expect(expired).toEqual(['grandchild at 150'])
  expect(clock.pending).toBe(0)
})

// 1.4
it('a timer that is held outlasts its limits, and is gone with the last hold', async () => {
  const { clock, dog, expired, limit } = watched()
  dog.hold()
  dog.hold()
  limit('one', 100).end()
  expect(clock.pending).toBe(1)
  await clock.advance(50)
  limit('two', 100)
  dog.release()
  await clock.advance(99)
  expect(expired).toEqual([])
  await clock.advance(1)
  expect(expired).toEqual(['two at 150'])
  limit('three', 100).end()
  dog.release()
  expect(clock.pending).toBe(0)
})

// 12.2
it('everybody with one clock has one watchdog: whoever holds its timer spares the others from setting one', () => {
  const clock = simClock({ startAt: 0, autoAdvance: false })
  let set = 0
  const counted = { ...clock, timer: (ms: number, fire: () => void) => (set++, clock.timer(ms, fire)) }
  const dog = watchdogOf(counted)
  dog.hold()
  for (let i = 0; i < 3; i++)
    watchdogOf(counted)
      .limit(100, () => {})
      .end()
  expect([set, clock.pending]).toEqual([1, 1])
  dog.release()
  expect(clock.pending).toBe(0)
  expect(watchdogOf(simClock({ startAt: 0, autoAdvance: false }))).not.toBe(dog)
})
