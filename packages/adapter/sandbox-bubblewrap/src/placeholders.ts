/** Owns folders that stand where a protected path is not there: bubblewrap can only mount on what exists. */
import { posix } from 'node:path'
import { type Disk, DiskError, isDiskError, type World } from '@sluice/base'

/** Each start holds a placeholder by a folder of its own in it, so that it is removed by the last one, whichever host that is. */
const HOLDER = /^\.sluice-holds-(\d+)-(.*)-\d+$/

/** Tries to hold a placeholder that somebody else is removing. */
const TRIES_MAX = 100

let count = 0

interface Held {
  readonly paths: readonly string[]
  /** Takes them away again, as far as nobody else holds or has filled them. */
  release(): Promise<void>
}

/** Makes the missing paths, but for those that nobody could make. */
export async function holdPlaces(
  world: Pick<World, 'disk' | 'host' | 'processes'>,
  paths: readonly string[],
): Promise<Held> {
  const { disk, host, processes } = world
  const started = (processes.startTimeOf(host.pid) ?? '').replaceAll('/', '_')
  const name = `.sluice-holds-${host.pid}-${started}-${++count}`
  const held: string[] = []
  const release = async () => {
    await Promise.all(held.map((path) => letGo(disk, path, name)))
  }
  try {
    for (const path of paths) if (await hold(disk, path, name)) held.push(path)
  } catch (error) {
    await release()
    throw error
  }
  return { paths: held, release }
}

async function hold(disk: Disk, path: string, name: string): Promise<boolean> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    try {
      await disk.mkdir(path).catch(unless('EEXIST'))
      await disk.mkdir(posix.join(path, name))
      return true
    } catch (error) {
      // Where this host makes nothing, a process that is no more than it does not either.
      if (isDiskError(error, 'EROFS') || isDiskError(error, 'EACCES')) return false
      if (!isDiskError(error, 'ENOENT')) throw error
    }
  }
  throw new DiskError('EBUSY', `EBUSY: '${path}' is being removed again and again`, path)
}

async function letGo(disk: Disk, path: string, name: string): Promise<void> {
  await disk.rmdir(posix.join(path, name)).catch(unless('ENOENT'))
  await disk.rmdir(path).catch(unless('ENOENT', 'ENOTEMPTY', 'EEXIST'))
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
