import { getEventListeners } from 'node:events'
import { simWorld } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { sleep } from '../src/index.ts'

describe('sleep', () => {
  it('ends after its time and not before', async () => {
    const { clock } = simWorld()
    let awake = false
    const sleeping = sleep(clock, 100).then(() => (awake = true))
    await clock.advance(99)
    expect(awake).toBe(false)
    await clock.advance(1)
    await sleeping
    expect(clock.monotonic()).toBe(100)
  })

  it('ends with the reason of a signal that fires first, and leaves no timer and no listener', async () => {
    const { clock } = simWorld()
    const controller = new AbortController()
    const sleeping = sleep(clock, 100, controller.signal)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
    expect(clock.pending).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  it('does not begin when the signal has fired already', async () => {
    const { clock } = simWorld()
    await expect(sleep(clock, 100, AbortSignal.abort('gone'))).rejects.toBe('gone')
    expect(clock.pending).toBe(0)
  })

  it('leaves no listener when it ends by itself', async () => {
    const { clock } = simWorld({ autoAdvance: true })
    const { signal } = new AbortController()
    await sleep(clock, 100, signal)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
