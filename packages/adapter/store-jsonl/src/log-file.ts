/** Owns bringing lines to the log file: creation, the cut of a torn tail, writes, syncs, and what follows a failure. */
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { DiskFile, FileStat, World } from '@sluice/base'
import { sessionErrors } from '@sluice/session'
import { makeDirectory, PRIVATE_FILE, readAll, statIfThere, unlinkIfThere, writeWhole } from './disk.ts'
import { storeErrors } from './errors.ts'
import type { Layout } from './layout.ts'
import { type Lock, sweep, takeLock } from './lock.ts'

/** What is known of the file when writing begins. */
export interface Start {
  /** Absent: the file is made by the first write. */
  readonly existing?: {
    readonly file: DiskFile
    readonly lock: Lock
    /** Byte after the last good record; everything before it is on disk. */
    readonly end: number
    readonly stat: FileStat
  }
}

export class LogFile {
  private readonly world: World
  private readonly id: string
  private readonly layout: Layout
  private file: DiskFile | undefined
  private lock: Lock | undefined
  /** Which file the name stood for. */
  private identity: Pick<FileStat, 'dev' | 'ino'> | undefined
  /** Everything before it is on disk. */
  private acknowledged: number
  /** Everything before it has been handed to the system. */
  private written: number
  /** Bytes of the file that have to be cut before the next write, and whether they are kept. */
  private cut: { readonly keep: boolean } | undefined
  private syncFailed = false
  private preparing: Promise<void> | undefined
  /** The log has its name, and was put there by this one, even if that could not be made durable yet. */
  private isNamed = false

  constructor(world: World, id: string, layout: Layout, start: Start) {
    this.world = world
    this.id = id
    this.layout = layout
    this.file = start.existing?.file
    this.lock = start.existing?.lock
    this.identity = start.existing?.stat
    this.acknowledged = this.written = start.existing?.end ?? 0
    if (start.existing && start.existing.stat.size > start.existing.end) this.cut = { keep: true }
  }

  /** Makes the folder, and takes the lock if it is not held yet. */
  async prepare(): Promise<void> {
    this.preparing ??= this.makePlace()
    try {
      await this.preparing
    } catch (error) {
      this.preparing = undefined
      throw error
    }
  }

  private async makePlace(): Promise<void> {
    if (this.lock) return
    const { disk } = this.world
    await makeDirectory(disk, this.layout.dir)
    try {
      this.lock = await takeLock(this.world, this.id, this.layout)
    } catch (error) {
      // Only an empty one goes.
      await disk.rmdir(this.layout.dir).catch(() => {})
      throw error
    }
    // A dead process may have come this far with the same id.
    await sweep(this.world, this.layout)
  }

  /** Writes after what was written. On failure nothing counts as written, and the file ends where it ended. */
  async write(bytes: Uint8Array): Promise<void> {
    if (!this.file) return this.create(bytes)
    if (this.cut) await this.makeCut(this.file, this.cut.keep)
    try {
      await this.file.write(bytes, this.written)
    } catch (error) {
      this.cut = { keep: false }
      // What fails here is tried again before the next write.
      await this.makeCut(this.file, false).catch(() => {})
      throw error
    }
    this.written += bytes.length
  }

  /** Everything written is on disk afterwards. After a failure nothing since the last success is trusted any more. */
  async sync(): Promise<void> {
    if (!this.file || this.acknowledged === this.written) return
    try {
      await this.file.datasync()
    } catch (error) {
      this.syncFailed = true
      throw error
    }
    this.acknowledged = this.written
  }

  /** What the file looks like, if every byte of it is acknowledged. */
  async settled(): Promise<FileStat | undefined> {
    const isSettled = this.acknowledged === this.written && !this.cut && !this.syncFailed
    const stat = isSettled ? await this.file?.stat() : undefined
    return stat?.size === this.acknowledged ? stat : undefined
  }

  get acknowledgedBytes(): number {
    return this.acknowledged
  }

  get writtenBytes(): number {
    return this.written
  }

  /** True after a failed sync: {@link restart}, then write again what was not acknowledged. */
  get mustRestart(): boolean {
    return this.syncFailed
  }

  /** Goes back to the last acknowledged byte through a new descriptor.
   *  @throws STORE_FOREIGN_CHANGE when the name stands for another file or a shorter one */
  async restart(): Promise<void> {
    const { disk } = this.world
    const { events } = this.layout
    await this.file?.close().catch(() => {})
    const file = await disk.open(events, { read: true, write: true, noFollow: true, nonBlocking: true })
    this.file = file
    const stat = await file.stat()
    const { identity } = this
    if (identity && (stat.dev !== identity.dev || stat.ino !== identity.ino)) {
      throw storeErrors('STORE_FOREIGN_CHANGE', { path: events, detail: 'another file stands in its place' })
    }
    if (stat.size < this.acknowledged) {
      const detail = `it has ${stat.size} bytes where ${this.acknowledged} were acknowledged`
      throw storeErrors('STORE_FOREIGN_CHANGE', { path: events, detail })
    }
    this.written = this.acknowledged
    this.cut = { keep: false }
    this.syncFailed = false
  }

  async close(): Promise<void> {
    const isMade = this.file !== undefined
    const { disk } = this.world
    try {
      await this.file?.close()
      // A session that never came to its first record leaves nothing.
      if (this.lock && !isMade) await unlinkIfThere(disk, `${this.layout.events}.tmp`).catch(() => {})
    } finally {
      await this.lock?.release()
    }
    if (this.lock && !isMade) await disk.rmdir(this.layout.dir).catch(() => {})
  }

  /** The file appears with its first records, or not at all. */
  private async create(bytes: Uint8Array): Promise<void> {
    const { disk } = this.world
    const { events, dir } = this.layout
    await this.prepare()
    if (!this.isNamed && (await statIfThere(disk, events))) throw sessionErrors('SESSION_EXISTS', { id: this.id })
    const temporary = `${events}.tmp`
    const options = { read: true, write: true, create: true, truncate: true, noFollow: true, mode: PRIVATE_FILE }
    const file = await disk.open(temporary, options)
    try {
      await file.write(bytes, 0)
      await file.sync()
      await disk.rename(temporary, events)
      this.isNamed = true
      await disk.syncDir(dir)
      this.identity = await file.stat()
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
    this.file = file
    this.written = this.acknowledged = bytes.length
  }

  private async makeCut(file: DiskFile, keep: boolean): Promise<void> {
    const { size } = await file.stat()
    if (size > this.written) {
      if (keep) await this.keepTail(await readAll(file, size - this.written, this.written))
      await file.truncate(this.written)
    }
    this.cut = undefined
  }

  /** The name tells the place and the content: cutting again after a crash makes no second copy. */
  private async keepTail(tail: Uint8Array): Promise<void> {
    const name = `cut-${this.written}-${crc32(tail).toString(16).padStart(8, '0')}.bin`
    const path = join(this.layout.dir, name)
    await writeWhole(this.world.disk, path, `${path}.tmp`, [tail])
  }
}
