/** Owns an open file of the real disk. */
import * as fs from 'node:fs'
import { DiskError, type DiskFile, type FileKind, type FileStat } from '@sluice/base'
import type { Direct } from './direct.ts'
import { diskErrorOf } from './disk-errors.ts'

/** So much is copied from or to the cache of the system in less time than a trip to another thread takes. */
const DIRECT_BYTES_MAX = 64 << 10

type Done<T> = (error: Error | null, value: T) => void

export class NodeFile implements DiskFile {
  private fd: number
  private readonly path: string
  private readonly direct: Direct
  private readonly isLocal: boolean
  /** Calls that other threads work on; the descriptor is not given back before, because its number may be given again at once. */
  private pending = 0
  private whenIdle: (() => void) | undefined
  private closed: Promise<void> | undefined
  private isWritten = false

  constructor(fd: number, path: string, direct: Direct, { isLocal }: { readonly isLocal: boolean }) {
    this.fd = fd
    this.path = path
    this.direct = direct
    this.isLocal = isLocal
  }

  async stat(): Promise<FileStat> {
    const options = { bigint: true } as const
    const stats = await this.quick(
      (fd) => fs.fstatSync(fd, options),
      (fd, done: Done<fs.BigIntStats>) => fs.fstat(fd, options, done),
    )
    return fileStatOf(stats)
  }

  /** The system tells it on Linux, through the descriptor. */
  async realPath(): Promise<string | undefined> {
    if (process.platform !== 'linux') return undefined
    try {
      return await this.quick(
        (fd) => fs.readlinkSync(`/proc/self/fd/${fd}`),
        (fd, done: Done<string>) => fs.readlink(`/proc/self/fd/${fd}`, done),
      )
    } catch {
      // No `/proc` is mounted.
      return undefined
    }
  }

  read(into: Uint8Array, position: number): Promise<number> {
    const threaded = (fd: number, done: Done<number>) => fs.read(fd, into, 0, into.length, position, done)
    if (into.length > DIRECT_BYTES_MAX) return this.threaded(threaded)
    return this.quick((fd) => fs.readSync(fd, into, 0, into.length, position), threaded)
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    this.isWritten = true
    if (bytes.length <= DIRECT_BYTES_MAX && this.isLocal && this.direct.isFree()) {
      return this.now((fd) => {
        for (let done = 0; done < bytes.length; ) {
          done += this.some(fs.writeSync(fd, bytes, done, bytes.length - done, position + done))
        }
      })
    }
    for (let done = 0; done < bytes.length; ) {
      const count = await this.threaded((fd, told: Done<number>) =>
        fs.write(fd, bytes, done, bytes.length - done, position + done, told),
      )
      done += this.some(count)
    }
  }

  truncate(size: number): Promise<void> {
    return this.threaded((fd, done) => fs.ftruncate(fd, size, done as Done<void>))
  }

  chmod(mode: number): Promise<void> {
    return this.threaded((fd, done) => fs.fchmod(fd, mode, done as Done<void>))
  }

  chown(uid: number, gid: number): Promise<void> {
    return this.threaded((fd, done) => fs.fchown(fd, uid, gid, done as Done<void>))
  }

  datasync(): Promise<void> {
    return this.threaded((fd, done) => fs.fdatasync(fd, done as Done<void>))
  }

  sync(): Promise<void> {
    return this.threaded((fd, done) => fs.fsync(fd, done as Done<void>))
  }

  /** Calls that are on their way are waited for; later ones fail. Of a file by which nothing was written another thread takes care. */
  close(): Promise<void> {
    this.closed ??= this.giveBack()
    return this.closed
  }

  private async giveBack(): Promise<void> {
    const { fd } = this
    this.fd = -1
    if (this.pending > 0) await new Promise<void>((resolve) => (this.whenIdle = resolve))
    // Nothing can be lost, and where another file took its name the system now frees the old one, which takes time.
    if (!this.isWritten) return fs.close(fd, () => undefined)
    try {
      if (this.isLocal && this.direct.isFree()) this.direct.now(() => fs.closeSync(fd))
      else await new Promise<void>((resolve, reject) => fs.close(fd, (error) => (error ? reject(error) : resolve())))
    } catch (error) {
      throw diskErrorOf(error, this.path)
    }
  }

  private quick<T>(atOnce: (fd: number) => T, threaded: (fd: number, done: Done<T>) => void): Promise<T> {
    return this.isLocal && this.direct.isFree() ? this.now(atOnce) : this.threaded(threaded)
  }

  private async now<T>(call: (fd: number) => T): Promise<T> {
    const fd = this.open()
    try {
      return this.direct.now(() => call(fd))
    } catch (error) {
      throw diskErrorOf(error, this.path)
    }
  }

  private async threaded<T>(call: (fd: number, done: Done<T>) => void): Promise<T> {
    const fd = this.open()
    this.pending++
    try {
      return await new Promise<T>((resolve, reject) =>
        call(fd, (error, value) => (error ? reject(error) : resolve(value))),
      )
    } catch (error) {
      throw diskErrorOf(error, this.path)
    } finally {
      if (--this.pending === 0) this.whenIdle?.()
    }
  }

  /** Trying again for ever would not help. */
  private some(count: number): number {
    if (count === 0) throw new DiskError('EIO', `EIO: nothing was written to '${this.path}'`, this.path)
    return count
  }

  private open(): number {
    if (this.fd === -1) throw new DiskError('EBADF', `EBADF: '${this.path}' is closed`, this.path)
    return this.fd
  }
}

export function fileStatOf(stats: fs.BigIntStats): FileStat {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    uid: Number(stats.uid),
    gid: Number(stats.gid),
    dev: stats.dev,
    ino: stats.ino,
    links: Number(stats.nlink),
    mtimeMs: Number(stats.mtimeNs) / 1e6,
    ctimeMs: Number(stats.ctimeNs) / 1e6,
  }
}

type KindTests = Pick<fs.BigIntStats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>

export function kindOf(entry: KindTests): FileKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  if (entry.isSymbolicLink()) return 'symlink'
  if (entry.isFIFO()) return 'fifo'
  return entry.isSocket() ? 'socket' : 'device'
}
