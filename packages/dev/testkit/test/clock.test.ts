import { describe, expect, it } from 'vitest'
import { flushMicrotasks, QUIET_TURNS, simClock, simWorld, turn } from '../src/index.ts'

describe('the simulated clock', () => {
  it('fires timers of one moment in the order they were set, and those set meanwhile in their turn', async () => {
    const { clock } = simWorld()
    const fired: string[] = []
    clock.timer(10, () => {
      fired.push('first')
      clock.timer(0, () => fired.push('set meanwhile'))
      clock.timer(100, () => fired.push('too late'))
    })
    clock.timer(10, () => fired.push('second'))
    await clock.advance(50)
    expect(fired).toEqual(['first', 'second', 'set meanwhile'])
    expect(clock.pending).toBe(1)
  })

  it('lets what a timer started settle before the next one fires', async () => {
    const { clock, disk } = simWorld({ files: { '/proj/a': 'x' } })
    const log: string[] = []
    clock.timer(1, () => void disk.stat('/proj/a').then(() => log.push('read')))
    clock.timer(2, () => log.push('second timer'))
    await clock.advance(2)
    expect(log).toEqual(['read', 'second timer'])
  })

  it('goes on to the end of the advance, and tells both times', async () => {
    const { clock } = simWorld({ startAt: 1000 })
    await clock.advance(250)
    expect([clock.now(), clock.monotonic()]).toEqual([1250, 250])
  })

  it('runs until no timer is left', async () => {
    const { clock } = simWorld()
    let left = 3
    const again = () => {
      if (--left > 0) clock.timer(1000, again)
    }
    clock.timer(1000, again)
    await clock.runUntilIdle()
    expect([left, clock.monotonic(), clock.pending]).toEqual([0, 3000, 0])
  })

  it('calls a chain of timers without an end what it is', async () => {
    const { clock } = simWorld()
    const again = () => void clock.timer(0, again)
    again()
    await expect(clock.runUntilIdle()).rejects.toThrow('something re-arms for ever')
  })

  it('in auto-advance waits for work that goes on in the simulated world', async () => {
    const { clock, disk } = simWorld({ autoAdvance: true, shuffleTurns: 2, files: { '/proj/a': 'x' } })
    let fired = false
    clock.timer(1, () => (fired = true))
    for (let i = 0; i < 50; i++) {
      await disk.stat('/proj/a')
      expect(fired).toBe(false)
    }
    await flushMicrotasks(2 * QUIET_TURNS)
    expect(fired).toBe(true)
  })

  it('clamps a delay that is too long, and takes one that is no number for none', async () => {
    const clock = simClock({ startAt: 0, autoAdvance: false })
    const fired: string[] = []
    clock.timer(Number.NaN, () => fired.push('none'))
    clock.timer(-5, () => fired.push('negative'))
    clock.timer(Infinity, () => fired.push('longest'))
    await clock.advance(0)
    expect(fired).toEqual(['none', 'negative'])
    await clock.advance(2 ** 31 - 1)
    expect(fired).toContain('longest')
  })
})

describe('a turn', () => {
  it('ends after every promise reaction that is ready', async () => {
    let done = false
    void (async () => {
      for (let i = 0; i < 100; i++) await Promise.resolve()
      done = true
    })()
    await turn()
    expect(done).toBe(true)
  })
})
