/** Owns what a confined process sees at which path. */
import { type Disk, type FileKind, isDiskError, type World } from '@sluice/base'
import type { Confinement } from '@sluice/sandbox'
import { between, isBelow, type Mount } from './arguments.ts'
import { isPlaceholder, isStandIn } from './placeholders.ts'

export interface Places {
  readonly mounts: readonly Mount[]
  /** Protected paths that are not there: something has to stand in their place. */
  readonly missing: readonly Missing[]
}

export interface Missing {
  readonly path: string
  /** Of the file that has to stand there; without it a folder does. */
  readonly content?: string
}

/** Folders for temporary files: that of this start, the one that holds those of all, and where its own is seen. */
export interface Temporary {
  readonly own: string
  readonly all: string
  readonly seenAt: readonly string[]
}

export async function placesOf(
  world: Pick<World, 'disk' | 'processes'>,
  confinement: Confinement,
  temporary: Temporary,
): Promise<Places> {
  const { disk } = world
  const { access, hidden } = confinement
  const workspace = await existing(disk, confinement.workspace)
  const { there: readOnly, absent } = await readOnlyFolders(world, confinement.readOnly)
  const { own, all, seenAt } = temporary
  const mounts: Mount[] = [...new Set(seenAt)].map((path) => ({ path, as: 'writable', from: own }))
  // Those of others are in the way only where the workspace holds them.
  if (workspace.some((root) => isBelow(all, root))) mounts.push({ path: all, as: 'empty' })
  for (const path of workspace) mounts.push({ path, as: access === 'write' ? 'writable' : 'read-only' })
  /** Where nothing is writable nothing needs protection, and a pin would be writable. */
  const writableRoot = (path: string): string | undefined => {
    const root = access === 'write' ? deepest(workspace, path) : undefined
    const above = deepest(readOnly, path)
    return root !== undefined && above !== undefined && above.length >= root.length ? undefined : root
  }
  for (const path of readOnly) {
    mounts.push({ path, as: 'read-only' })
    const root = writableRoot(path)
    if (root !== undefined) mounts.push(...pins(root, path))
  }
  const missing: Missing[] = []
  for (const path of [...confinement.protected, ...absent]) {
    const root = writableRoot(path)
    if (root === undefined) continue
    const kind = await kindOf(disk, path)
    if (kind === 'unreachable') continue
    const content = confinement.standIns.get(path)
    if (content !== undefined && (kind === 'absent' || (await isStandIn(world, path)))) missing.push({ path, content })
    else if (kind === 'absent' || (kind === 'directory' && (await isPlaceholder(world, path)))) missing.push({ path })
    // What a link leads to is protected; the link itself cannot be.
    else mounts.push({ path, as: 'read-only' })
    mounts.push(...pins(root, path))
  }
  for (const path of hidden) {
    const kind = await kindOf(disk, path)
    if (kind === 'absent' || kind === 'unreachable') continue
    mounts.push({ path, as: kind === 'directory' ? 'empty' : 'blank' })
  }
  return { mounts: once(mounts), missing }
}

async function existing(disk: Disk, paths: readonly string[]): Promise<string[]> {
  const kinds = await Promise.all(paths.map((path) => kindOf(disk, path)))
  return paths.filter((_, i) => kinds[i] !== 'absent' && kinds[i] !== 'unreachable')
}

/** One that is not there is kept from coming into being; one that only stands for it is not there. */
async function readOnlyFolders(
  world: Pick<World, 'disk' | 'processes'>,
  paths: readonly string[],
): Promise<{ there: readonly string[]; absent: readonly string[] }> {
  const there: string[] = []
  for (const path of await existing(world.disk, paths)) if (!(await isPlaceholder(world, path))) there.push(path)
  return { there, absent: paths.filter((path) => !there.includes(path)) }
}

function pins(root: string, path: string): Mount[] {
  return between(root, path).map((folder) => ({ path: folder, as: 'pinned' }))
}

/** One pin for each folder; what else is mounted on it says the same and more. */
function once(mounts: readonly Mount[]): Mount[] {
  const pinned = new Set<string>()
  return mounts.filter(({ path, as }) => {
    if (as !== 'pinned') return true
    if (pinned.has(path)) return false
    pinned.add(path)
    return true
  })
}

function deepest(workspace: readonly string[], path: string): string | undefined {
  const roots = workspace.filter((root) => isBelow(path, root))
  return roots.toSorted((a, b) => b.length - a.length)[0]
}

async function kindOf(disk: Disk, path: string): Promise<FileKind | 'absent' | 'unreachable'> {
  try {
    return (await disk.stat(path)).kind
  } catch (error) {
    if (!isDiskError(error, 'ENOENT')) return 'unreachable'
  }
  // A link that leads nowhere, or a missing folder above, is left as it is.
  const isLink = await disk.lstat(path).then(
    () => true,
    () => false,
  )
  const above = await disk.stat(path.slice(0, path.lastIndexOf('/')) || '/').catch(() => undefined)
  return isLink || above?.kind !== 'directory' ? 'unreachable' : 'absent'
}
