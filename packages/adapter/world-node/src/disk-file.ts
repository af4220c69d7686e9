/** Owns an open file of the real disk. */
import { type BigIntStats, writeSync } from 'node:fs'
import { type FileHandle, readlink } from 'node:fs/promises'
import { DiskError, type DiskFile, type FileKind, type FileStat } from '@sluice/base'
import { withDiskErrors } from './disk-errors.ts'

/** So much goes to the cache of the system in less time than a trip to another thread takes. */
const DIRECT_BYTES_MAX = 64 << 10
/** A write that took longer was not one to a cache, and everything else had to wait for it. */
const DIRECT_MS_MAX = 20
/** Writes that go by way of another thread after that. */
const THREADED_WRITES = 100

export class NodeFile implements DiskFile {
  private readonly handle: FileHandle
  private readonly path: string
  /** How many of the next writes go by way of another thread. */
  private threaded = 0

  constructor(handle: FileHandle, path: string) {
    this.handle = handle
    this.path = path
  }

  stat(): Promise<FileStat> {
    return withDiskErrors(this.path, async () => fileStatOf(await this.handle.stat({ bigint: true })))
  }

  /** The system tells it on Linux, through the descriptor. */
  async realPath(): Promise<string | undefined> {
    if (process.platform !== 'linux') return undefined
    try {
      return await readlink(`/proc/self/fd/${this.handle.fd}`)
    } catch {
      // No `/proc` is mounted.
      return undefined
    }
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return withDiskErrors(this.path, async () => (await this.handle.read(into, 0, into.length, position)).bytesRead)
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    return withDiskErrors(this.path, async () => {
      const { fd } = this.handle
      // Of a closed file it is -1, and the handle says so in its own way.
      if (fd >= 0 && bytes.length <= DIRECT_BYTES_MAX && this.threaded === 0) {
        const start = performance.now()
        writeAll(fd, bytes, position)
        if (performance.now() - start > DIRECT_MS_MAX) this.threaded = THREADED_WRITES
        return
      }
      if (this.threaded > 0) this.threaded--
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.handle.write(bytes, done, bytes.length - done, position + done)
        if (bytesWritten === 0) throw new DiskError('EIO', `EIO: nothing was written to '${this.path}'`, this.path)
        done += bytesWritten
      }
    })
  }

  truncate(size: number): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.truncate(size))
  }

  chmod(mode: number): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.chmod(mode))
  }

  chown(uid: number, gid: number): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.chown(uid, gid))
  }

  datasync(): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.datasync())
  }

  sync(): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.sync())
  }

  close(): Promise<void> {
    return withDiskErrors(this.path, () => this.handle.close())
  }
}

/** @throws what the platform throws */
function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

export function fileStatOf(stats: BigIntStats): FileStat {
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

type KindTests = Pick<BigIntStats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>

export function kindOf(entry: KindTests): FileKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  if (entry.isSymbolicLink()) return 'symlink'
  if (entry.isFIFO()) return 'fifo'
  return entry.isSocket() ? 'socket' : 'device'
}
