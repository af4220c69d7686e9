/** Owns file identity: which target a path leads to, the same for every spelling of it. */
import { type Disk, type FileStat, isDiskError } from '@sluice/base'
import { posix } from 'node:path'
import { diskFailure } from './disk-failure.ts'
import { fsErrors } from './errors.ts'
import type { Target } from './types.ts'

/** As the kernel: more links than this in one path are a circle. */
const LINKS_MAX = 40
/** Longer paths are refused before the disk is asked. */
export const PATH_BYTES_MAX = 4096
/** How many directories are remembered as folding names or not. */
const FOLDING_KNOWN_MAX = 1024

export interface Resolved {
  readonly target: Target
  /** Of what stands there; the leaf is never a symlink. */
  readonly stat: FileStat | undefined
}

/** Identity of what exists. */
export function keyOf(stat: FileStat): string {
  return `${stat.dev}:${stat.ino}`
}

/** What stands at `path`, links not followed; `undefined` when nothing does. */
export async function lstatOf(disk: Disk, path: string): Promise<FileStat | undefined> {
  try {
    return await disk.lstat(path)
  } catch (error) {
    if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ENOTDIR')) return undefined
    throw error
  }
}

/** One spelling for all that a folding volume takes as the same. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

export class Resolver {
  private readonly disk: Disk
  private readonly folding = new Map<string, boolean>()

  constructor(disk: Disk) {
    this.disk = disk
  }

  /** @throws FS_PATH_INVALID, FS_ACCESS, FS_DISK */
  async resolve(given: string, cwd: string): Promise<Resolved> {
    const problem = problemOf(given)
    if (problem !== undefined) throw fsErrors('FS_PATH_INVALID', { path: given, problem })
    const absolute = posix.isAbsolute(given) ? given : `${cwd}/${given}`
    try {
      const { path, stat } = (await this.existing(absolute)) ?? (await this.walk(absolute, given))
      const folded = await this.folds(path, stat)
      const key = stat ? keyOf(stat) : `path:${folded ? foldName(path) : path}`
      return { target: { path, key, exists: stat !== undefined, folded, given }, stat }
    } catch (error) {
      throw diskFailure(error, given, 'look up')
    }
  }

  /** The quick way for what exists. */
  private async existing(absolute: string): Promise<{ path: string; stat: FileStat } | undefined> {
    try {
      const [path, there] = await Promise.all([this.disk.realpath(absolute), this.disk.lstat(absolute)])
      const stat = path === absolute ? there : await this.disk.lstat(path)
      return stat.kind === 'symlink' ? undefined : { path, stat }
    } catch (error) {
      if (isDiskError(error)) return undefined
      throw error
    }
  }

  /** Component by component: links are followed (a dangling one too), what does not exist is taken as written. */
  private async walk(absolute: string, given: string): Promise<{ path: string; stat: FileStat | undefined }> {
    const pending = absolute.split('/').reverse()
    let path = '/'
    let stat: FileStat | undefined = await this.disk.lstat('/')
    const missing: string[] = []
    for (let links = 0; pending.length > 0; ) {
      const part = pending.pop() as string
      if (part === '' || part === '.') continue
      if (part === '..') {
        if (missing.length > 0) missing.pop()
        else path = posix.dirname(path)
        if (missing.length === 0) stat = await this.disk.lstat(path)
        continue
      }
      if (missing.length > 0) {
        missing.push(part)
        continue
      }
      const next = path === '/' ? `/${part}` : `${path}/${part}`
      const found = await lstatOf(this.disk, next)
      if (found?.kind === 'symlink') {
        if (++links > LINKS_MAX)
          throw fsErrors('FS_PATH_INVALID', { path: given, problem: 'goes round in a circle of links' })
        const to = await this.disk.readlink(next)
        if (to.startsWith('/')) path = '/'
        pending.push(...to.split('/').reverse())
        continue
      }
      stat = found
      if (found) path = next
      else missing.push(part)
    }
    return {
      path: missing.length > 0 ? posix.join(path, ...missing) : path,
      stat: missing.length > 0 ? undefined : stat,
    }
  }

  /** Whether the volume takes another spelling of `path` as the same: asked with a name that exists there. */
  private async folds(path: string, stat: FileStat | undefined): Promise<boolean> {
    const directory = posix.dirname(path)
    if (stat && (await this.isTwin(path, otherForm(posix.basename(path)), stat)) === true) return true
    const known = this.folding.get(directory)
    if (known !== undefined) return known
    for (let at = path, there = stat; at !== '/'; at = posix.dirname(at), there = await lstatOf(this.disk, at)) {
      const answer = there && (await this.isTwin(at, otherCase(posix.basename(at)), there))
      if (answer !== undefined) return this.remember(directory, answer)
    }
    return false
  }

  private remember(directory: string, answer: boolean): boolean {
    if (this.folding.size >= FOLDING_KNOWN_MAX) this.folding.clear()
    this.folding.set(directory, answer)
    return answer
  }

  /** Whether `name` beside `path` is the same file; `undefined` when that would prove nothing. */
  private async isTwin(path: string, name: string, stat: FileStat): Promise<boolean | undefined> {
    if (name === posix.basename(path) || (stat.kind !== 'directory' && stat.links > 1)) return undefined
    const twin = await lstatOf(this.disk, posix.join(posix.dirname(path), name))
    return twin !== undefined && keyOf(twin) === keyOf(stat)
  }
}

function otherCase(name: string): string {
  const upper = name.toUpperCase()
  return upper !== name ? upper : name.toLowerCase()
}

function otherForm(name: string): string {
  const composed = name.normalize('NFC')
  return composed !== name ? composed : name.normalize('NFD')
}

function problemOf(path: string): string | undefined {
  if (path === '') return 'is empty'
  if (path.includes('\0')) return 'holds a NUL'
  if (!path.isWellFormed()) return 'is not well-formed Unicode'
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return 'is too long'
  return undefined
}
