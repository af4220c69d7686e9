/** Owns seeded randomness: the same seed gives the same bytes, floats and choices. */
import type { RandomSource } from '@sluice/base'

export interface SimRandom extends RandomSource {
  /** An integer in [0, below). */
  int(below: number): number
  pick<T>(items: readonly T[]): T
  /** A source of its own, so that one consumer does not shift the numbers of another. */
  fork(): SimRandom
}

/** The generator is mulberry32: 32 bits of state, enough for tests. */
export function seededRandom(seed: number): SimRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const float = () => next() / 0x1_0000_0000
  const int = (below: number) => Math.floor(float() * below)
  return {
    float,
    int,
    bytes: (length) => Uint8Array.from({ length }, () => next() >>> 24),
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('nothing to pick from')
      return items[int(items.length)] as T
    },
    fork: () => seededRandom(next()),
  }
}
