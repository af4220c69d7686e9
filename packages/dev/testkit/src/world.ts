/** Owns the simulated World: seeded, still until advanced, in memory, and able to lose power. */
import type { HostInfo, World } from '@sluice/base'
import type { Context } from 'cordis'
import { type SimClock, simClock } from './clock.ts'
import { SimDisk } from './disk.ts'
import type { Keep } from './journal.ts'
import { type SimNetwork, simNetwork } from './network.ts'
import { type SimProcesses, simProcesses } from './processes.ts'
import { type SimRandom, seededRandom } from './random.ts'
import type { FileSeed } from './seed.ts'
import type { Naming } from './volume.ts'
import { turn } from './waiting.ts'

export interface SimWorldOptions {
  /** Default 1. */
  readonly seed?: number
  /** Milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly startAt?: number
  /** Fire timers by themselves whenever nothing else can happen. Not for tests that also wait for real input or output. */
  readonly autoAdvance?: boolean
  /** Each disk operation waits up to so many turns, picked by the seed: concurrent operations interleave. Default 0. */
  readonly shuffleTurns?: number
  readonly files?: Readonly<Record<string, FileSeed>>
  /** `'folding'`: names ignore case and Unicode form. */
  readonly naming?: Naming
  /** `'none'`: syncs make nothing durable. */
  readonly fsync?: 'honest' | 'none'
  readonly host?: Partial<HostInfo>
  /** User id of the host process; 0 ignores permissions. Default 1000. */
  readonly uid?: number
}

export interface SimWorld extends World {
  readonly clock: SimClock
  readonly random: SimRandom
  readonly disk: SimDisk
  readonly processes: SimProcesses
  readonly network: SimNetwork
  /** The same machine after power was lost now: time goes on, the disk is what survived, nothing runs. */
  reboot(options: { readonly keep: Keep }): SimWorld
}

const START = Date.UTC(2026, 0, 1)

export function simWorld(options: SimWorldOptions = {}): SimWorld {
  return build(options, options.startAt ?? START, options.host?.pid ?? 4242, (settings) => {
    const disk = SimDisk.create(settings, options.naming ?? 'exact')
    disk.plant({ '/tmp': { directory: true, mode: 0o1777 }, '/home/user': null, '/proj': null })
    disk.plant(options.files ?? {})
    return disk
  })
}

type DiskSettings = Parameters<typeof SimDisk.create>[0]

function build(
  options: SimWorldOptions,
  startAt: number,
  pid: number,
  makeDisk: (settings: DiskSettings) => SimDisk,
): SimWorld {
  const random = seededRandom(options.seed ?? 1)
  const shuffle = random.fork()
  const clock = simClock({ startAt, autoAdvance: options.autoAdvance ?? false })
  const stir = () => clock.stir()
  const host: HostInfo = {
    platform: 'linux',
    hostname: 'sim',
    homeDir: '/home/user',
    tempDir: '/tmp',
    env: {},
    umask: 0o022,
    ...options.host,
    pid,
  }
  const turns = options.shuffleTurns ?? 0
  const disk = makeDisk({
    now: () => clock.now(),
    uid: options.uid ?? 1000,
    umask: host.umask,
    fsync: options.fsync ?? 'honest',
    onActivity: stir,
    async schedule() {
      for (let left = turns === 0 ? 0 : shuffle.int(turns + 1); left > 0; left--) await turn()
    },
  })
  return {
    clock,
    random,
    disk,
    host,
    processes: simProcesses(clock, stir),
    network: simNetwork(stir),
    reboot({ keep }) {
      const seed = random.int(2 ** 32)
      return build({ ...options, seed }, clock.now() + 1000, pid + 1, (settings) => disk.afterCrash({ keep, settings }))
    },
  }
}

/** A plugin that provides `ctx.world`. */
export function worldPlugin(world: World): { name: string; provide: string[]; apply(ctx: Context): void } {
  return {
    name: 'world-sim',
    provide: ['world'],
    apply: (ctx) => void ctx.provide('world', world),
  }
}
