/** Owns the way to a file: resolve, ask every check, open without following or waiting, ask again what was opened. */
import { posix } from 'node:path'
import { type Disk, type DiskFile, type FileStat, isDiskError, isSluiceError, messageOf } from '@sluice/base'
import type { Session } from '@sluice/session'
import { diskFailure } from './disk-failure.ts'
import { fsErrors } from './errors.ts'
import type { Leftovers } from './leftovers.ts'
import { observations } from './observations.ts'
import { keyOf, type Resolved, type Resolver } from './resolve.ts'
import type { Target, TargetCheck } from './types.ts'

/** How often a path is looked up again when the file there is replaced between look-up and open. */
const OPEN_TRIES_MAX = 4

export interface NamedCheck {
  readonly name: string
  readonly check: TargetCheck
}

export interface Opened {
  readonly target: Target
  readonly file: DiskFile
  readonly stat: FileStat
}

export type Reach = 'read' | 'change'

export class Access {
  readonly checks: NamedCheck[] = []
  private readonly disk: Disk
  private readonly resolver: Resolver
  private readonly leftovers: Leftovers
  private readonly begun = new WeakSet<Session>()

  constructor(disk: Disk, resolver: Resolver, leftovers: Leftovers) {
    this.disk = disk
    this.resolver = resolver
    this.leftovers = leftovers
  }

  /** Resolves `path` and asks every check. A change shows what was there, so that must be readable too.
   *  @throws FS_REFUSED, FS_PATH_INVALID, FS_ACCESS */
  async reach(path: string, reach: Reach, session: Session): Promise<Resolved> {
    const resolved = await this.resolver.resolve(path, session.cwd)
    await this.ask(resolved.target, reach, session)
    if (!this.begun.has(session)) await this.begin(session)
    await this.clear(posix.dirname(resolved.target.path), session)
    return resolved
  }

  /** Removes what a process that died while it changed a file left in `directory`, where `session` may change files. */
  clear(directory: string, session: Session): Promise<void> {
    return this.leftovers.clear(directory, async (path) => {
      try {
        await this.ask((await this.resolver.resolve(path, session.cwd)).target, 'change', session)
        return true
      } catch (error) {
        if (isSluiceError(error)) return false
        throw error
      }
    })
  }

  /** A session that was resumed may have died in any folder that it has seen files of. */
  private async begin(session: Session): Promise<void> {
    this.begun.add(session)
    const paths = session.fold(observations).flatMap((bucket) => Object.keys(bucket))
    for (const directory of new Set(paths.map((path) => posix.dirname(path)))) await this.clear(directory, session)
  }

  /** A file that exists, open, and still allowed under the path that the platform tells for the descriptor.
   *  @throws FS_NOT_FOUND, FS_NOT_A_FILE, FS_REFUSED, FS_READ_ONLY, FS_ACCESS */
  async open(path: string, reach: Reach, session: Session, resolved?: Resolved): Promise<Opened> {
    let at = resolved ?? (await this.reach(path, reach, session))
    for (let attempt = 1; ; attempt++) {
      const { target, stat } = at
      if (!stat) throw fsErrors('FS_NOT_FOUND', { path: target.path })
      if (stat.kind !== 'file') throw fsErrors('FS_NOT_A_FILE', { path: target.path, kind: stat.kind })
      const file = await this.openFile(target.path, stat, reach)
      const opened = file && (await this.admit(file, target, reach, session))
      if (opened) return opened
      if (attempt === OPEN_TRIES_MAX) throw redirected(target.path)
      at = await this.reach(path, reach, session)
    }
  }

  async ask(target: Target, reach: Reach, session: Session): Promise<void> {
    if (reach === 'read' || target.exists) await this.askFor(target, 'read', session)
    if (reach === 'change') await this.askFor(target, 'write', session)
  }

  private async askFor(target: Target, access: 'read' | 'write', session: Session): Promise<void> {
    for (const { name, check } of this.checks) {
      const refusal = await verdictOf(name, () => check(target, access, session))
      if (refusal) throw fsErrors('FS_REFUSED', { path: target.given, ...refusal })
    }
  }

  /** `undefined` when the path stopped to be what was resolved. */
  private async openFile(path: string, { mode }: FileStat, reach: Reach): Promise<DiskFile | undefined> {
    const options = { read: true, noFollow: true, nonBlocking: true }
    if (reach === 'change' && (mode & 0o222) === 0) throw fsErrors('FS_READ_ONLY', { path, mode })
    try {
      if (reach === 'read') return await this.disk.open(path, options)
      try {
        return await this.disk.open(path, { ...options, write: true })
      } catch (error) {
        // A program that runs cannot be opened for writing, but can be replaced.
        if (isDiskError(error, 'ETXTBSY')) return await this.disk.open(path, options)
        throw error
      }
    } catch (error) {
      if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ELOOP') || isDiskError(error, 'ENOTDIR')) return undefined
      throw diskFailure(error, path, reach === 'read' ? 'read' : 'change')
    }
  }

  private async admit(file: DiskFile, target: Target, reach: Reach, session: Session): Promise<Opened | undefined> {
    try {
      const [stat, real] = await Promise.all([file.stat(), file.realPath?.()])
      const isSame = stat.kind === 'file' && keyOf(stat) === target.key
      if (isSame && (await this.isStillAllowed(real, target, reach, session))) return { target, file, stat }
    } catch (error) {
      await file.close()
      throw diskFailure(error, target.path, 'read')
    }
    await file.close()
    return undefined
  }

  /** Where the platform tells the path of the descriptor, that path is asked for; elsewhere the path is resolved again. */
  private async isStillAllowed(
    real: string | undefined,
    target: Target,
    reach: Reach,
    session: Session,
  ): Promise<boolean> {
    if (real === undefined) return (await this.disk.realpath(target.path)) === target.path
    if (real !== target.path) await this.ask({ ...target, path: real }, reach, session)
    return true
  }
}

export function redirected(path: string) {
  const reason = 'the path was redirected while it was being opened'
  return fsErrors('FS_REFUSED', { path, code: 'FS_REDIRECTED', reason })
}

/** A check that throws or answers nonsense refuses. */
async function verdictOf(name: string, ask: () => unknown): Promise<{ code: string; reason: string } | undefined> {
  let answer: unknown
  try {
    answer = await ask()
  } catch (error) {
    return { code: 'FS_CHECK_FAILED', reason: `the check ${name} failed: ${messageOf(error)}` }
  }
  if (answer === undefined) return undefined
  const { code, reason } = (answer ?? {}) as { code?: unknown; reason?: unknown }
  if (typeof code === 'string' && typeof reason === 'string' && reason !== '') return { code, reason }
  return { code: 'FS_CHECK_FAILED', reason: `the check ${name} gave an answer that is none` }
}
