/** Owns tests over many seeds: each gets a world that interleaves differently, a failure names its seed. */
import { messageOf } from '@sluice/base'
import type { SimRandom } from './random.ts'
import { turn } from './waiting.ts'
import { type SimWorld, type SimWorldOptions, simWorld } from './world.ts'

export interface SeedOptions extends Omit<SimWorldOptions, 'seed'> {
  /** How many seeds. Multiplied by the environment variable SLUICE_SEEDS_FACTOR, for long runs. */
  readonly seeds: number
  /** Default 1. The environment variable SLUICE_SEED runs one seed alone. */
  readonly firstSeed?: number
}

/** Runs `body` once per seed. A failure says `seed N`. Default for `shuffleTurns` is 3. */
export async function forSeeds(
  options: SeedOptions,
  body: (world: SimWorld, seed: number) => Promise<unknown>,
): Promise<void> {
  const { seeds, firstSeed = 1, ...rest } = options
  const only = process.env['SLUICE_SEED']
  const first = only === undefined ? firstSeed : Number(only)
  const count = only === undefined ? seeds * Number(process.env['SLUICE_SEEDS_FACTOR'] ?? 1) : 1
  for (let seed = first; seed < first + count; seed++) {
    const world = simWorld({ shuffleTurns: 3, ...rest, seed })
    await body(world, seed).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${messageOf(error)}`, { cause: error })
    })
  }
}

/** Starts every task after a random number of turns, so that they overlap in an order of the seed's choice.
 *  Settles like `Promise.allSettled`. */
export function interleave<T>(
  random: SimRandom,
  tasks: readonly (() => T | Promise<T>)[],
  turnsMax = 5,
): Promise<PromiseSettledResult<T>[]> {
  return Promise.allSettled(
    tasks.map(async (task) => {
      for (let left = random.int(turnsMax + 1); left > 0; left--) await turn()
      return task()
    }),
  )
}
