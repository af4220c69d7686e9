/** Owns exhaustive crash tests: die before each disk effect in turn, and look at everything that could be left. */
import { messageOf } from '@sluice/base'
import type { Keep } from './journal.ts'
import type { SimDisk } from './disk.ts'
import type { SimRandom } from './random.ts'
import { flushMicrotasks } from './waiting.ts'
import type { SimWorld } from './world.ts'

/** How many effects one run may have before it is called endless. */
export const CRASHES_MAX = 10_000

export interface CrashState {
  /** Shown when the check fails. */
  readonly label: string
  readonly keep: Keep
}

/** Keeps the first `effects` unsynced effects and, of the next one if it is a write, its first `tornBytes`. */
export function keepPrefix(effects: number, tornBytes: number | 'zeros' = 0): Keep {
  return (effect, index) => index < effects || (index === effects && effect.kind === 'write' ? tornBytes : false)
}

/** Keeps, loses or tears each effect at random. */
export function keepAtRandom(random: SimRandom): Keep {
  return (effect) => {
    const choice = random.int(4)
    if (effect.kind !== 'write' || choice < 2) return choice % 2 === 0
    return choice === 2 ? random.int(effect.bytes.length + 1) : 'zeros'
  }
}

/** Every prefix of what a crash now could lose; a write at the edge also torn, and as zeros of full size. */
export function* crashStates(disk: SimDisk): Generator<CrashState> {
  const effects = disk.unsynced
  for (let kept = 0; kept <= effects.length; kept++) {
    yield { label: `the first ${kept} of ${effects.length} unsynced effects kept`, keep: kept }
    const next = effects[kept]
    if (next?.kind !== 'write') continue
    const { length } = next.bytes
    for (const torn of new Set([1, length >> 1, length - 1])) {
      if (torn <= 0 || torn >= length) continue
      yield { label: `${kept} kept and ${torn} bytes of the next write`, keep: keepPrefix(kept, torn) }
    }
    yield { label: `${kept} kept and zeros for the next write`, keep: keepPrefix(kept, 'zeros') }
  }
}

export interface EveryCrash {
  /** The same world each time. */
  readonly make: () => SimWorld
  /** What is going on when the machine dies. Errors after the death do not matter. */
  readonly act: (world: SimWorld) => Promise<unknown>
  /** Looks at the machine after power has come back, and throws when something is wrong. */
  readonly check: (world: SimWorld, state: CrashState) => Promise<unknown>
  /** Default {@link crashStates}. */
  readonly states?: (disk: SimDisk) => Iterable<CrashState>
}

/** Runs `act` once for each effect k, dies before it, and checks every state that may be found; then once without dying.
 *  Resolves to the number of states checked. */
export async function everyCrash({ make, act, check, states = crashStates }: EveryCrash): Promise<number> {
  let checked = 0
  for (let effect = 1; effect <= CRASHES_MAX; effect++) {
    const world = make()
    world.disk.crashAt(world.disk.effectCount + effect)
    const died = await actUntilDeath(world, act)
    for (const state of states(world.disk)) {
      const where = died ? `died before effect ${effect}` : 'died after the last effect'
      await check(world.reboot(state), state).catch((error: unknown) => {
        throw new Error(`${where}, ${state.label}: ${messageOf(error)}`, { cause: error })
      })
      checked++
    }
    if (!died) return checked
  }
  throw new Error(`more than ${CRASHES_MAX} disk effects`)
}

async function actUntilDeath(world: SimWorld, act: (world: SimWorld) => Promise<unknown>): Promise<boolean> {
  let died = false
  const death = world.disk.crashed.then(async () => {
    died = true
    await flushMicrotasks()
  })
  const acting = act(world).catch((error: unknown) => {
    if (!died) throw error
  })
  await Promise.race([acting, death])
  return died
}
