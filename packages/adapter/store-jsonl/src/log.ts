/** Owns one log that is open: what the session writes to. */
import { join } from 'node:path'
import { isDiskError, isSluiceError, mintId, type World } from '@sluice/base'
import type { BlobRef, Checkpoint, SessionEvent, SessionLog } from '@sluice/session'
import { getBlob, putBlob, shareBlob, streamBlob } from './blobs.ts'
import { codeOf } from './disk.ts'
import { storeErrors } from './errors.ts'
import { type Kept, sealIndex, writeIndex } from './index-file.ts'
import { blobsBeside, type Layout } from './layout.ts'
import { LogFile, type Start } from './log-file.ts'
import { Writer } from './writer.ts'

/** A log that only reads: its blobs can be had, nothing else. */
export class ReadOnlyLog implements SessionLog {
  readonly path: string
  protected readonly world: World
  protected readonly layout: Layout

  constructor(world: World, layout: Layout) {
    this.world = world
    this.layout = layout
    this.path = layout.events
  }

  write(_event: SessionEvent): void {
    throw storeErrors('STORE_UNWRITABLE', { path: this.path, code: 'opened for reading' })
  }

  durable(_seq: number): Promise<void> {
    return Promise.resolve()
  }

  putBlob(_digest: string, _bytes: Uint8Array): Promise<void> {
    return Promise.reject(storeErrors('STORE_UNWRITABLE', { path: this.layout.blobs, code: 'opened for reading' }))
  }

  streamBlob(_pieces: AsyncIterable<Uint8Array>): Promise<BlobRef> {
    return Promise.reject(storeErrors('STORE_UNWRITABLE', { path: this.layout.blobs, code: 'opened for reading' }))
  }

  shareBlob(_from: string, _digest: string): Promise<boolean> {
    return Promise.reject(storeErrors('STORE_UNWRITABLE', { path: this.layout.blobs, code: 'opened for reading' }))
  }

  async getBlob(digest: string): Promise<Uint8Array | undefined> {
    const { layout, world } = this
    try {
      return await getBlob(world.disk, layout.blobs, digest)
    } catch (error) {
      throw storeErrors('STORE_UNREADABLE', { path: layout.blobs, code: codeOf(error) }, { cause: error })
    }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

export class JsonlLog extends ReadOnlyLog {
  private readonly file: LogFile
  private readonly writer: Writer
  private newest: Checkpoint | undefined
  /** The index that belongs to what is in the log. */
  private index: Kept | undefined
  private keeping: Promise<void> = Promise.resolve()
  private isClosed = false

  /** `last` is the seq of the last event on disk, -1 for a new log. */
  constructor(world: World, id: string, layout: Layout, start: Start, last: number, index?: Kept) {
    super(world, layout)
    this.index = index
    this.file = new LogFile(world, id, layout, start)
    this.writer = new Writer(this.file, layout.events, last)
  }

  override write(event: SessionEvent): void {
    this.writer.add(event.seq, JSON.stringify(event))
  }

  override durable(seq: number): Promise<void> {
    return this.writer.durable(seq)
  }

  override putBlob(digest: string, bytes: Uint8Array): Promise<void> {
    return this.writing(() => putBlob(this.world.disk, this.layout.blobs, digest, bytes))
  }

  override streamBlob(pieces: AsyncIterable<Uint8Array>): Promise<BlobRef> {
    const { world, layout } = this
    // Outside the folder of blobs, where the next writer looks for what a dead one left half done.
    const temporary = join(layout.dir, `${mintId(world, 'blob')}.tmp`)
    return this.writing(() => streamBlob(world.disk, layout.blobs, temporary, pieces))
  }

  override shareBlob(from: string, digest: string): Promise<boolean> {
    return this.writing(() => shareBlob(this.world.disk, blobsBeside(this.layout, from), this.layout.blobs, digest))
  }

  /** One after the other; one that a newer one has overtaken is left out. */
  async keepCheckpoint(checkpoint: Checkpoint): Promise<void> {
    this.newest = checkpoint
    const ended = this.writer.endOfLast()
    // It may fail before anybody waits for it.
    ended.catch(() => {})
    const before = this.keeping
    const keep = async () => {
      await before.catch(() => {})
      const offset = await ended
      if (this.newest !== checkpoint) return
      this.index = await this.writing(() => writeIndex(this.world.disk, this.layout, checkpoint, offset))
    }
    this.keeping = keep()
    await this.keeping
  }

  private async writing<T>(work: () => Promise<T>): Promise<T> {
    if (this.isClosed) throw storeErrors('STORE_UNWRITABLE', { path: this.layout.dir, code: 'closed' })
    try {
      await this.file.prepare()
      return await work()
    } catch (error) {
      if (isSluiceError(error)) throw error
      throw storeErrors('STORE_UNWRITABLE', { path: this.layout.dir, code: codeOf(error) }, { cause: error })
    }
  }

  override async close(): Promise<void> {
    await this.writer.end()
    await this.keeping.catch(() => {})
    this.isClosed = true
    try {
      await this.seal()
    } finally {
      await this.file.close()
    }
  }

  private async seal(): Promise<void> {
    const { index, world, layout, writer } = this
    try {
      const stat = writer.isSettled ? await this.file.settled() : undefined
      if (stat) await sealIndex(world.disk, layout, index, stat, writer.lastSeq)
    } catch (error) {
      // Without it the log is read as a whole, which is no loss.
      if (!isDiskError(error)) throw error
    }
  }
}
