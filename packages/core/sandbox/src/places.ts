/** Owns what a start is held to: the real paths of the workspace, of what is protected in it, and of what is hidden. */
import { posix } from 'node:path'
import { type Disk, type HostInfo, isDiskError } from '@sluice/base'
import { AUTHORITY_PLACES, COMPOSITION } from '@sluice/fs'
import type { Session } from '@sluice/session'
import type { Confinement, ConfinedMode } from './types.ts'

/** Folders below the workspace in which files that grant authority are looked for. */
const DEPTH_MAX = 3
const FOLDERS_MAX = 500

/** Never looked into: large, and nothing in them is used for its own folder. */
const skipped = new Set(['node_modules', '.git'])

export interface PlacesConfig {
  writable: readonly string[]
  protectedPaths: readonly string[]
  hidden: readonly string[]
}

export interface PlacesOptions {
  readonly disk: Disk
  readonly host: HostInfo
  readonly config: PlacesConfig
}

export async function confinementOf(
  { disk, host, config }: PlacesOptions,
  session: Session,
  mode: ConfinedMode,
  hosts: readonly string[],
): Promise<Confinement> {
  const absolute = (path: string) =>
    posix.resolve(session.cwd, path === '~' || path.startsWith('~/') ? host.homeDir + path.slice(1) : path)
  const real = (path: string) => realOf(disk, absolute(path))
  const workspace = await Promise.all([session.cwd, ...config.writable].map(real))
  const own = mode === 'read-only' ? [] : (await Promise.all(workspace.map((root) => granting(disk, root)))).flat()
  const named = await Promise.all(config.protectedPaths.map(real))
  const hidden = await Promise.all(config.hidden.map(real))
  return {
    workspace: [...new Set(workspace)],
    access: mode === 'read-only' ? 'read' : 'write',
    protected: [...new Set([...own, ...named])],
    hidden: [...new Set(hidden)],
    hosts,
    scratch: session.id,
  }
}

/** The real path of the deepest existing ancestor, plus the rest. */
async function realOf(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.realpath(path)
  } catch (error) {
    const above = posix.dirname(path)
    if (!isDiskError(error) || above === path) throw error
    return posix.join(await realOf(disk, above), posix.basename(path))
  }
}

/** Files and folders below `root` that grant authority: those that could come into being directly below it, and in deeper
 *  folders those that are there. */
async function granting(disk: Disk, root: string): Promise<string[]> {
  const atRoot = [...AUTHORITY_PLACES.filter((place) => !place.startsWith('.git/')), COMPOSITION]
  const found = new Set(atRoot.map((place) => posix.join(root, place)))
  const queue = [{ folder: root, depth: 0 }]
  let seen = 0
  for (let next = queue.shift(); next && seen < FOLDERS_MAX; next = queue.shift(), seen++) {
    const { folder, depth } = next
    const entries = await disk.readdir(folder).catch(() => [])
    const names = new Set(entries.map(({ name }) => name))
    for (const place of AUTHORITY_PLACES) {
      // A repository has hooks and a configuration, whether they are there yet or not.
      if (names.has(place.split('/')[0] as string)) found.add(posix.join(folder, place))
    }
    if (folder === root) {
      for (const name of names) if (/^sluice\..+\.yml$/.test(name)) found.add(posix.join(root, name))
    }
    if (depth === DEPTH_MAX) continue
    for (const { name, kind } of entries)
      if (kind === 'directory' && !skipped.has(name)) queue.push({ folder: posix.join(folder, name), depth: depth + 1 })
  }
  return [...found]
}
