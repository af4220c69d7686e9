/** Owns starting one confined process. */
import type { Child, SpawnOptions, World } from '@sluice/base'
import type { Confinement } from '@sluice/sandbox'
import { bubblewrapArguments } from './arguments.ts'
import { confinedChild } from './child.ts'
import { keeperCommand, Report } from './keeper.ts'
import { bubblewrapErrors } from './errors.ts'
import { placesOf } from './mounts.ts'
import { openPassage, type Passage } from './network.ts'
import { holdPlaces } from './placeholders.ts'
import { assertStartable, findProgram } from './programs.ts'
import type { Scratch } from './scratch.ts'
import type { Turns } from './turns.ts'

export interface Parts {
  readonly world: World
  readonly programFolders: readonly string[]
  readonly scratch: Scratch
  /** A placeholder is without a holder for a moment before it goes: no start may look at it then. */
  readonly turns: Turns
}

export async function startConfined(parts: Parts, options: SpawnOptions, confinement: Confinement): Promise<Child> {
  const { world, programFolders, scratch, turns } = parts
  const { disk, host, processes } = world
  await assertStartable(disk, options)
  const file = await findProgram(disk, 'bwrap', programFolders)
  if (file === undefined) throw bubblewrapErrors('BUBBLEWRAP_GONE', { folders: programFolders })
  const own = await scratch.folder(confinement.scratch)
  const { places, held } = await turns.run(async () => {
    const temporary = { own, all: scratch.root, seenAt: ['/tmp', host.tempDir] }
    const places = await placesOf(world, confinement, temporary)
    return { places, held: await holdPlaces(world, places.missing) }
  })
  let passage: Passage | undefined
  const end = async () => {
    passage?.close()
    // What cannot be taken away is an empty folder; that is no reason to lose how the process ended.
    await turns.run(() => held.release()).catch(() => undefined)
  }
  try {
    passage = await passageTo(parts, confinement.hosts)
    const mounts = [...places.mounts, ...held.mounts, ...(passage ? [passage.mount] : [])]
    const program = keeperCommand([options.file, ...options.args], passage?.before)
    const report = new Report()
    const { crowd, ...rest } = options
    const outer = await processes.spawn({
      ...rest,
      file,
      args: [...bubblewrapArguments(mounts, options.cwd), '--', ...program],
      env: { ...options.env, ...passage?.env },
      onReport: (bytes) => report.push(bytes),
    })
    return confinedChild({ outer, report, clock: world.clock, crowd, release: end })
  } catch (error) {
    await end()
    throw error
  }
}

async function passageTo(
  { world, programFolders, scratch }: Parts,
  hosts: readonly string[],
): Promise<Passage | undefined> {
  if (hosts.length === 0) return undefined
  const socat = await findProgram(world.disk, 'socat', programFolders)
  if (socat === undefined) throw bubblewrapErrors('BUBBLEWRAP_NO_RELAY', { folders: programFolders })
  return openPassage(hosts, await scratch.fresh('network'), socat)
}
