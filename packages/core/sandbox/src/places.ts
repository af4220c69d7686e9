/** Owns what a start is held to: the real paths of the workspace, of what is protected in it, and of what is hidden. */
import { posix } from 'node:path'
import type { Disk, HostInfo } from '@sluice/base'
import type { Session } from '@sluice/session'
import { type Authority, findAuthority } from './authority.ts'
import { realOf } from './real-path.ts'
import type { Appeared, Confinement, ConfinedMode, WorkspaceFolder } from './types.ts'

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
  private readonly found = new WeakMap<Session, Authority>()
  /** Where it was looked. */
  private readonly searched = new WeakMap<Session, readonly string[]>()
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
    const own = mode === 'read-only' ? undefined : await this.authority(session, workspace)
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

  /** What grants authority and was not there when a process was last started, or when this was last asked. */
  async appeared(session: Session): Promise<Appeared> {
    const known = new Set(this.found.get(session)?.found)
    const { found, cut } = await this.authority(session, this.searched.get(session) ?? [])
    return { paths: found.filter((each) => !known.has(each)), cut }
  }

  private async authority(session: Session, workspace: readonly string[]): Promise<Authority> {
    this.searched.set(session, workspace)
    const before = this.found.get(session)
    const now = await Promise.all(workspace.map((root) => findAuthority(this.options.disk, root)))
    const each = before ? [before, ...now] : now
    const all: Authority = {
      paths: [...new Set(each.flatMap(({ paths }) => paths))],
      standIns: new Map(each.flatMap(({ standIns }) => [...standIns])),
      found: [...new Set(each.flatMap(({ found }) => found))],
      cut: now.some(({ cut }) => cut),
    }
    this.found.set(session, all)
    return all
  }
}
