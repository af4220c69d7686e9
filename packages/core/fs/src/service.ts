/** Owns `ctx.fs`: what plugins call, each call in the name of a session. */
import { posix } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'
import type { Session } from '@sluice/session'
import { type Context, Service } from 'cordis'
import { Access, type NamedCheck } from './access.ts'
import { type ChangeContext, Changes } from './changes.ts'
import { diskFailure } from './disk-failure.ts'
import { fsErrors } from './errors.ts'
import { Intents } from './intents.ts'
import { Leftovers } from './leftovers.ts'
import { readOpened, type ReadOptions } from './read.ts'
import { Resolver } from './resolve.ts'
import { Swapper } from './swap.ts'
import type {
  ChangeResult,
  DirectoryEntry,
  DirectoryListing,
  EditPiece,
  Fs,
  FsContext,
  ReadResult,
  Target,
  TargetCheck,
} from './types.ts'
import { undoCall } from './undo.ts'

/** Entries of one listing. */
export const LIST_ENTRIES_MAX = 2000

export class FsService implements Fs {
  /** Tells Cordis that `ctx` is the caller's context inside a method. */
  readonly [Service.tracker] = { associate: 'fs', property: 'ctx' }
  readonly ctx: Context
  private readonly disk: Disk
  private readonly resolver: Resolver
  private readonly access: Access
  private readonly changes: Changes

  constructor(ctx: Context) {
    this.ctx = ctx
    const { world } = ctx
    this.disk = world.disk
    this.resolver = new Resolver(this.disk)
    const leftovers = new Leftovers(world)
    this.access = new Access(this.disk, this.resolver, leftovers)
    this.changes = new Changes(new Intents(ctx, world.clock), this.access, new Swapper(this.disk, leftovers))
  }

  async resolve(path: string, session: Session): Promise<Target> {
    return (await this.resolver.resolve(path, session.cwd)).target
  }

  async check(path: string, access: 'read' | 'write', context: FsContext): Promise<Target> {
    return (await this.access.reach(path, access === 'read' ? 'read' : 'change', context.session)).target
  }

  async read(path: string, options: ReadOptions, context: FsContext): Promise<ReadResult> {
    const opened = await this.access.open(path, 'read', context.session)
    try {
      const { result, seen } = await readOpened(opened, options, context.signal)
      const { target, version, linesTotal } = result
      if (version) {
        context.session.append('fs/observed', {
          path: target.path,
          key: target.key,
          version,
          ...(seen && { ranges: seen }),
          ...(linesTotal !== undefined && { linesTotal }),
          how: 'read',
        })
      }
      return result
    } catch (error) {
      throw diskFailure(error, opened.target.path, 'read')
    } finally {
      await opened.file.close()
    }
  }

  write(path: string, content: string, context: ChangeContext): Promise<ChangeResult> {
    return this.changes.write(path, content, context)
  }

  edit(path: string, pieces: readonly EditPiece[], context: ChangeContext): Promise<ChangeResult> {
    return this.changes.edit(path, pieces, context)
  }

  async list(path: string, context: FsContext): Promise<DirectoryListing> {
    const { target, stat } = await this.access.reach(path, 'read', context.session)
    if (!stat) throw fsErrors('FS_NOT_FOUND', { path: target.path })
    if (stat.kind !== 'directory') throw fsErrors('FS_NOT_A_DIRECTORY', { path: target.path, kind: stat.kind })
    try {
      await this.access.clear(target.path, context.session)
      const found = await this.disk.readdir(target.path)
      found.sort((a, b) => (a.name < b.name ? -1 : 1))
      const shown = found.slice(0, LIST_ENTRIES_MAX)
      const entries = await Promise.all(shown.map((entry) => this.entryOf(target.path, entry)))
      return { target, entries, omitted: found.length - shown.length }
    } catch (error) {
      throw diskFailure(error, target.path, 'list')
    }
  }

  undo(callId: string, context: FsContext): Promise<readonly ChangeResult[]> {
    return undoCall(this.changes, callId, context)
  }

  restrict(name: string, check: TargetCheck): () => void {
    const { ctx, access } = this
    const entry: NamedCheck = { name, check }
    const dispose = ctx.effect(
      () => {
        access.checks.push(entry)
        return () => void access.checks.splice(access.checks.indexOf(entry), 1)
      },
      `ctx.fs.restrict(${JSON.stringify(name)})`,
    )
    return () => void dispose()
  }

  private async entryOf(directory: string, { name, kind }: { name: string; kind: string }): Promise<DirectoryEntry> {
    if (kind !== 'file') return { name, kind: kind === 'directory' || kind === 'symlink' ? kind : 'other' }
    try {
      return { name, kind, size: (await this.disk.lstat(posix.join(directory, name))).size }
    } catch (error) {
      // It went away since the directory was read.
      if (isDiskError(error)) return { name, kind: 'other' }
      throw error
    }
  }
}
