/** Owns putting new bytes in the place of old ones: atomic, durable, and only if the file is still what it should be. */
import { posix } from 'node:path'
import { type Disk, type DiskFile, type FileStat, isDiskError, messageOf } from '@sluice/base'
import { redirected } from './access.ts'
import { diskFailure } from './disk-failure.ts'
import { fsErrors } from './errors.ts'
import type { Leftovers } from './leftovers.ts'
import { keyOf, lstatOf } from './resolve.ts'
import { holdsStill } from './versions.ts'

/** What is to be replaced: open, and the content that the change was made for. */
export interface Existing {
  readonly file: DiskFile
  readonly stat: FileStat
  readonly bytes: Buffer
}

export interface Removed<T> {
  /** What came of {@link Before}. */
  readonly before: T
  readonly syncing: Syncing
}

export interface Swapped<T> extends Removed<T> {
  readonly stat: FileStat
  readonly ownerLost: boolean
}

/** Resolves when the disk has the new name, or to why it did not confirm it; the change is done nevertheless. */
export type Syncing = Promise<string | undefined>

/** Must be done before the file is touched; throws to leave it as it is. Called while the new bytes go to the disk: `written`. */
export type Before<T> = (written: Promise<void>) => Promise<T>

export class Swapper {
  private readonly disk: Disk
  private readonly leftovers: Leftovers

  constructor(disk: Disk, leftovers: Leftovers) {
    this.disk = disk
    this.leftovers = leftovers
  }

  /** Without `existing` the path must be free. When this throws, the file is what it was.
   *  @throws FS_STALE, FS_REFUSED, FS_ACCESS, FS_DISK, FS_NOT_A_DIRECTORY */
  async swap<T>(
    path: string,
    bytes: Uint8Array,
    existing: Existing | undefined,
    before: Before<T>,
  ): Promise<Swapped<T>> {
    const directory = posix.dirname(path)
    try {
      if (!existing) await this.makeParents(directory)
      return await this.replace(path, directory, bytes, existing, before)
    } catch (error) {
      throw diskFailure(error, path, 'write')
    }
  }

  /** Removes the file, if it is still the given version. */
  async remove<T>(path: string, existing: Existing, before: Before<T>): Promise<Removed<T>> {
    try {
      const made = await before(Promise.resolve())
      await this.assertUnchanged(path, existing)
      await this.disk.unlink(path)
      return { before: made, syncing: this.syncDirectory(posix.dirname(path)) }
    } catch (error) {
      throw diskFailure(error, path, 'remove')
    }
  }

  private async replace<T>(
    path: string,
    directory: string,
    bytes: Uint8Array,
    existing: Existing | undefined,
    before: Before<T>,
  ): Promise<Swapped<T>> {
    const temporary = this.leftovers.name(directory)
    let created = false
    try {
      const file = await this.disk.open(temporary, {
        write: true,
        create: true,
        exclusive: true,
        noFollow: true,
        mode: existing ? existing.stat.mode & 0o777 : 0o666,
      })
      created = true
      const made = await this.fill(file, temporary, path, bytes, existing, before)
      if (existing) await this.disk.rename(temporary, path)
      else await this.create(temporary, path)
      created = false
      return { ...made, syncing: this.syncDirectory(directory) }
    } finally {
      if (created) await this.discard(temporary)
    }
  }

  /** Everything up to the moment of the swap. The file is closed while the one in its place is looked at for the last time. */
  private async fill<T>(
    file: DiskFile,
    temporary: string,
    path: string,
    bytes: Uint8Array,
    existing: Existing | undefined,
    before: Before<T>,
  ): Promise<Omit<Swapped<T>, 'syncing'>> {
    let closed: Promise<void> | undefined
    try {
      const [stat, real] = await Promise.all([file.stat(), file.realPath?.()])
      await this.assertAt(real, temporary, posix.dirname(path))
      await file.write(bytes, 0)
      const ownerLost = existing !== undefined && (await keepOwnerAndMode(file, stat, existing.stat))
      const made = await before(file.sync())
      closed = file.close()
      await Promise.all([closed, existing && this.assertUnchanged(path, existing)])
      return { stat, ownerLost, before: made }
    } finally {
      await (closed ?? file.close())
    }
  }

  /** The content is read again through the descriptor; metadata could hide a change within one tick of the clock. */
  private async assertUnchanged(path: string, { file, stat, bytes }: Existing): Promise<void> {
    const [isSame, there] = await Promise.all([holdsStill(file, bytes), lstatOf(this.disk, path)])
    if (!isSame) throw fsErrors('FS_STALE', { path, detail: 'it was changed meanwhile' })
    if (!there || keyOf(there) !== keyOf(stat))
      throw fsErrors('FS_STALE', { path, detail: 'it was replaced meanwhile' })
  }

  /** A new name appears only if it is free: a link does not replace. */
  private async create(temporary: string, path: string): Promise<void> {
    const taken = () => fsErrors('FS_STALE', { path, detail: 'it was created meanwhile' })
    try {
      await this.disk.link(temporary, path)
    } catch (error) {
      if (isDiskError(error, 'EEXIST')) throw taken()
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(isDiskError(error) ? error.code : ''))
        throw error
      // The volume has no hard links.
      if (await lstatOf(this.disk, path)) throw taken()
      return this.disk.rename(temporary, path)
    }
    await this.disk.unlink(temporary)
  }

  private async assertAt(real: string | undefined, path: string, directory: string): Promise<void> {
    if (real === undefined ? (await this.disk.realpath(directory)) !== directory : real !== path) throw redirected(path)
  }

  private async makeParents(directory: string): Promise<void> {
    const missing: string[] = []
    for (let at = directory; ; at = posix.dirname(at)) {
      const stat = await lstatOf(this.disk, at)
      if (stat?.kind === 'directory') break
      if (stat) throw fsErrors('FS_NOT_A_DIRECTORY', { path: at, kind: stat.kind })
      missing.unshift(at)
    }
    for (const path of missing) {
      try {
        await this.disk.mkdir(path)
      } catch (error) {
        if (!isDiskError(error, 'EEXIST')) throw error
      }
      await this.syncDirectory(posix.dirname(path))
    }
  }

  private async syncDirectory(path: string): Syncing {
    try {
      await this.disk.syncDir(path)
    } catch (error) {
      // Some volumes cannot sync a directory and need not.
      if (!isDiskError(error)) throw error
      if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') return messageOf(error)
    }
    return undefined
  }

  private async discard(path: string): Promise<void> {
    try {
      await this.disk.unlink(path)
    } catch (error) {
      if (!isDiskError(error)) throw error
    }
  }
}

/** Owner first: changing it clears the bits that run a program as its owner, which may not outlive the owner. */
async function keepOwnerAndMode(file: DiskFile, now: FileStat, stat: FileStat): Promise<boolean> {
  let ownerLost = false
  if (now.uid !== stat.uid || now.gid !== stat.gid) {
    try {
      await file.chown(stat.uid, stat.gid)
    } catch (error) {
      if (!isDiskError(error)) throw error
      ownerLost = true
    }
  }
  const mode = ownerLost ? stat.mode & 0o1777 : stat.mode
  if (now.mode !== mode) await file.chmod(mode)
  return ownerLost
}
