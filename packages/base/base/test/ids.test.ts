import { simWorld } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { mintId, mintSessionId } from '../src/index.ts'

describe('an id', () => {
  it('of a session sorts by its start and tells it in UTC', async () => {
    const world = simWorld({ startAt: Date.UTC(2026, 2, 4, 5, 6, 7, 890) })
    const first = mintSessionId(world)
    expect(first).toMatch(/^20260304-050607-[0-9a-hjkmnp-tv-z]{8}$/)
    await world.clock.advance(1000)
    expect(mintSessionId(world) > first).toBe(true)
  })

  it('names what it is for and is not given twice', () => {
    const world = simWorld()
    const ids = new Set(Array.from({ length: 1000 }, () => mintId(world, 'call')))
    expect(ids.size).toBe(1000)
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-hjkmnp-tv-z]{12}$/)
  })

  it('is the same for the same seed', () => {
    expect(mintId(simWorld({ seed: 5 }), 'x')).toBe(mintId(simWorld({ seed: 5 }), 'x'))
  })
})
