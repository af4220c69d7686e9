/** Owns what a start is held to: the real paths of the workspace, of what is protected in it, and of what is hidden. */
import { posix } from 'node:path'
import type { Disk, HostInfo } from '@sluice/base'
import type { Session } from '@sluice/session'
import { findAuthority } from './authority.ts'
import { Protection } from './protection.ts'
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

/** What is known of a session. */
interface Known {
  /** What was found stays: nothing that a process makes can crowd it out of a later search. */
  readonly protection: Protection
  /** Where it was looked. */
  readonly roots: Set<string>
  /** Those of the last start. */
  searched: readonly string[]
  /** What has come into being and was not asked for yet. */
  readonly untold: Set<string>
  /** All that was ever found. */
  readonly found: Set<string>
  /** Processes that live. */
  living: number
  /** Whether one lived since it was asked what has come into being. */
  unasked: boolean
}

export class Places {
  private readonly options: PlacesOptions
  private readonly known = new WeakMap<Session, Known>()
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
    const known = this.knownOf(session)
    if (mode !== 'read-only') {
      const { fresh } = await this.search(known, workspace)
      // What a process that lives, or was not asked about yet, has made; the rest is somebody else's.
      if (known.unasked) for (const each of fresh) known.untold.add(each)
    }
    const { paths, standIns } = known.protection
    const named = await Promise.all(config.protectedPaths.map(real))
    const hidden = await Promise.all(config.hidden.map(real))
    return {
      workspace,
      access: mode === 'read-only' ? 'read' : 'write',
      readOnly,
      protected: [...new Set([...paths, ...named])],
      standIns: new Map(standIns),
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

  /** A process was started, whose files are told at the next question or, while it lives, at any. */
  started(session: Session, exited: Promise<unknown>): void {
    const known = this.knownOf(session)
    known.unasked = true
    known.living++
    void exited.then(() => known.living--)
  }

  /** What has come to grant authority since a process was started, or since this was asked. */
  async appeared(session: Session): Promise<Appeared> {
    const known = this.knownOf(session)
    known.unasked = known.living > 0
    const { fresh, cut } = await this.search(known, known.searched)
    const paths = [...known.untold, ...fresh]
    known.untold.clear()
    return { paths, cut }
  }

  /** What was not found before where it had been looked, and whether something was not looked into or is not protected. */
  private async search(known: Known, workspace: readonly string[]): Promise<{ fresh: string[]; cut: boolean }> {
    known.searched = workspace
    const fresh: string[] = []
    let cut = false
    for (const root of workspace) {
      const now = await findAuthority(this.options.disk, root, known.protection)
      cut ||= now.cut
      if (known.roots.has(root)) fresh.push(...now.found.filter((each) => !known.found.has(each)))
      for (const each of now.found) known.found.add(each)
      known.roots.add(root)
    }
    return { fresh, cut }
  }

  private knownOf(session: Session): Known {
    const before = this.known.get(session)
    if (before) return before
    const known: Known = {
      protection: new Protection(),
      roots: new Set(),
      searched: [],
      untold: new Set(),
      found: new Set(),
      living: 0,
      unasked: false,
    }
    this.known.set(session, known)
    return known
  }
}
