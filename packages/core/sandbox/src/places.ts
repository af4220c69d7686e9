/** Owns what a start is held to: the real paths of the workspace, of what is protected in it, and of what is hidden. */
import { posix } from 'node:path'
import { type Disk, type HostInfo, isDiskError } from '@sluice/base'
import { AUTHORITY_PLACES, COMPOSITION } from '@sluice/fs'
import type { Session } from '@sluice/session'
import { type Granting, repositoryPlaces } from './repository.ts'
import type { Confinement, ConfinedMode, WorkspaceFolder } from './types.ts'

/** Folders below the workspace in which files that grant authority are looked for. */
const DEPTH_MAX = 3
const FOLDERS_MAX = 2000

/** Never looked into: large, and nothing in them is used for its own folder. */
const skipped = new Set(['node_modules', '.git'])

export interface PlacesConfig {
  /** In place of what a policy says. */
  writable?: readonly string[] | undefined
  protectedPaths: readonly string[]
  hidden: readonly string[]
}

export interface PlacesOptions {
  readonly disk: Disk
  readonly host: HostInfo
  readonly config: PlacesConfig
  /** What a policy says. */
  readonly folders: (session: Session) => Promise<readonly WorkspaceFolder[]>
}

/** What was found for a session stays protected: nothing that a process makes can crowd it out of a later search. */
export class Places {
  private readonly options: PlacesOptions
  private readonly found = new WeakMap<Session, Granting>()
  private readonly real = new WeakMap<Session, Map<string, string>>()

  constructor(options: PlacesOptions) {
    this.options = options
  }

  async of(session: Session, mode: ConfinedMode, hosts: readonly string[]): Promise<Confinement> {
    const { disk, host, config, folders } = this.options
    const absolute = (path: string) =>
      posix.resolve(session.cwd, path === '~' || path.startsWith('~/') ? host.homeDir + path.slice(1) : path)
    const real = (path: string) => realOf(disk, absolute(path))
    const said = await folders(session)
    const more = config.writable ?? said.filter(({ writable }) => writable).map(({ path }) => path)
    const workspace = await this.unmoved(session, [session.cwd, ...more].map(absolute))
    const readOnly = await this.unmoved(
      session,
      said.filter(({ writable }) => !writable).map(({ path }) => path),
    )
    const own = mode === 'read-only' ? undefined : await this.granting(session, workspace)
    const named = await Promise.all(config.protectedPaths.map(real))
    const hidden = await Promise.all(config.hidden.map(real))
    return {
      workspace,
      access: mode === 'read-only' ? 'read' : 'write',
      readOnly,
      protected: [...new Set([...(own?.paths ?? []), ...named])],
      standIns: own?.standIns ?? new Map(),
      hidden: [...new Set(hidden)],
      hosts,
      scratch: session.id,
    }
  }

  /** The real paths as they were when the session first needed them, without those that lead elsewhere now. */
  private async unmoved(session: Session, paths: readonly string[]): Promise<string[]> {
    const { disk } = this.options
    const first = this.real.get(session) ?? new Map<string, string>()
    this.real.set(session, first)
    const found = await Promise.all(
      paths.map(async (path) => {
        const before = first.get(path) ?? (await realOf(disk, path))
        first.set(path, before)
        return (await realOf(disk, before)) === before ? [before] : []
      }),
    )
    return [...new Set(found.flat())]
  }

  private async granting(session: Session, workspace: readonly string[]): Promise<Granting> {
    const before = this.found.get(session)
    const now = await Promise.all(workspace.map((root) => granting(this.options.disk, root)))
    const paths = new Set([...(before?.paths ?? []), ...now.flatMap((each) => each.paths)])
    const standIns = new Map([...(before?.standIns ?? []), ...now.flatMap((each) => [...each.standIns])])
    const all = { paths: [...paths], standIns }
    this.found.set(session, all)
    return all
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
async function granting(disk: Disk, root: string): Promise<Granting> {
  const atRoot = [...AUTHORITY_PLACES.filter((place) => place !== '.git'), COMPOSITION]
  const paths = new Set(atRoot.map((place) => posix.join(root, place)))
  const standIns = new Map<string, string>()
  let level = [root]
  let left = FOLDERS_MAX
  for (let depth = 0; depth <= DEPTH_MAX && level.length > 0 && left > 0; depth++) {
    const folders = level.slice(0, left)
    left -= folders.length
    const listed = await Promise.all(folders.map((folder) => disk.readdir(folder).catch(() => [])))
    level = []
    for (const [i, folder] of folders.entries()) {
      for (const { name, kind } of listed[i] ?? []) {
        const path = posix.join(folder, name)
        if (name === '.git' && kind !== 'file') {
          const repository = await repositoryPlaces(disk, await realOf(disk, path))
          for (const each of repository.paths) paths.add(each)
          for (const [each, content] of repository.standIns) standIns.set(each, content)
        } else if (isAuthority(name) || (folder === root && /^sluice\..+\.yml$/.test(name))) paths.add(path)
        if (kind === 'directory' && !skipped.has(name)) level.push(path)
      }
    }
  }
  return { paths: [...paths], standIns }
}

function isAuthority(name: string): boolean {
  return (AUTHORITY_PLACES as readonly string[]).includes(name)
}
