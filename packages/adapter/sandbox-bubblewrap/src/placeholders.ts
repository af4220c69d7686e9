/** Owns what stands where a protected path is not there: bubblewrap can only mount on what exists. */
import { posix } from 'node:path'
import { type Disk, DiskError, isDiskError, type World } from '@sluice/base'
import type { Mount } from './arguments.ts'
import type { Missing } from './mounts.ts'

/** Each start holds a placeholder by a folder of its own in it, so that it is removed by the last one, whichever host that is. */
const HOLDER = /^\.sluice-holds-(\d+)-(.*)-\d+$/

/** Tries to hold a placeholder that somebody else is removing. */
const TRIES_MAX = 100

let count = 0

/** Beside a file that stands for a missing one: a placeholder, held in its stead. */
const HELD_BESIDE = '.sluice-held'

interface Held {
  readonly mounts: readonly Mount[]
  /** Takes them away again, as far as nobody else holds or has filled them. */
  release(): Promise<void>
}

/** Makes the missing paths, but for those that nobody could make. */
export async function holdPlaces(
  world: Pick<World, 'disk' | 'host' | 'processes'>,
  missing: readonly Missing[],
): Promise<Held> {
  const { disk, host, processes } = world
  const started = (processes.startTimeOf(host.pid) ?? '').replaceAll('/', '_')
  const name = `.sluice-holds-${host.pid}-${started}-${++count}`
  const held: Missing[] = []
  const release = async () => {
    await Promise.all(held.map((each) => letGo(disk, each, name)))
  }
  try {
    for (const each of missing) {
      if (!(await hold(disk, folderOf(each), name))) continue
      held.push(each)
      if (each.content !== undefined) await put(disk, each.path, each.content, posix.join(folderOf(each), name))
    }
  } catch (error) {
    await release()
    throw error
  }
  const empty = held.map((each): Mount => ({ path: folderOf(each), as: 'empty' }))
  const files = held.filter(({ content }) => content !== undefined)
  return { mounts: [...empty, ...files.map(({ path }): Mount => ({ path, as: 'read-only' }))], release }
}

function folderOf({ path, content }: Missing): string {
  return content === undefined ? path : path + HELD_BESIDE
}

/** Appears with its content, so that nobody reads half of it. */
async function put(disk: Disk, path: string, content: string, holder: string): Promise<void> {
  const temporary = posix.join(holder, 'content')
  const file = await disk.open(temporary, { write: true, create: true, exclusive: true, noFollow: true })
  try {
    await file.write(Buffer.from(content), 0)
  } finally {
    await file.close()
  }
  await disk.link(temporary, path).catch(unless('EEXIST'))
  await disk.unlink(temporary)
}

async function hold(disk: Disk, path: string, name: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    try {
      if (await disk.lstat(path).catch(unless('ENOENT'))) await disk.mkdir(posix.join(path, name))
      else await appear(disk, path, name)
      return true
    } catch (error) {
      // Where this host makes nothing, a process that is no more than it does not either.
      if (isDiskError(error, 'EROFS') || isDiskError(error, 'EACCES')) return false
      if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some((code) => isDiskError(error, code))) throw error
    }
  }
  throw new DiskError('EBUSY', `EBUSY: '${path}' is being removed again and again`, path)
}

/** A placeholder appears with its holder: an empty folder would be taken for one of the person's, and not be held. */
async function appear(disk: Disk, path: string, name: string): Promise<void> {
  const temporary = path + name
  await disk.mkdir(temporary)
  try {
    await disk.mkdir(posix.join(temporary, name))
    await disk.rename(temporary, path)
  } catch (error) {
    await disk.rmdir(posix.join(temporary, name)).catch(unless('ENOENT'))
    await disk.rmdir(temporary).catch(unless('ENOENT'))
    throw error
  }
}

async function letGo(disk: Disk, missing: Missing, name: string): Promise<void> {
  const folder = folderOf(missing)
  await disk.rmdir(posix.join(folder, name)).catch(unless('ENOENT'))
  try {
    await disk.rmdir(folder)
  } catch (error) {
    return unless('ENOENT', 'ENOTEMPTY', 'EEXIST')(error)
  }
  if (missing.content !== undefined) await disk.unlink(missing.path).catch(unless('ENOENT'))
}

/** True for a file that was put where none was, and is still held or was left behind. */
export function isStandIn(world: Pick<World, 'disk' | 'processes'>, path: string): Promise<boolean> {
  return isPlaceholder(world, path + HELD_BESIDE)
}

/** True for a folder that holds nothing but holders, after those of hosts that are gone have been removed. */
export async function isPlaceholder(world: Pick<World, 'disk' | 'processes'>, path: string): Promise<boolean> {
  const { disk, processes } = world
  const entries = await disk.readdir(path).catch(() => [])
  const holders = entries.map(({ name }) => HOLDER.exec(name))
  if (holders.length === 0 || holders.includes(null)) return false
  for (const holder of holders) {
    const [name, pid, started] = holder as RegExpExecArray
    const now = processes.startTimeOf(Number(pid))?.replaceAll('/', '_')
    if (now !== started) await disk.rmdir(posix.join(path, name)).catch(unless('ENOENT'))
  }
  return true
}

function unless(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.some((code) => isDiskError(error, code))) throw error
  }
}
