/** Owns one log that is open: what the session writes to. */
import { isSluiceError, type World } from '@sluice/base'
import type { SessionEvent, SessionLog } from '@sluice/session'
import { getBlob, putBlob } from './blobs.ts'
import { codeOf } from './disk.ts'
import { storeErrors } from './errors.ts'
import type { Layout } from './layout.ts'
import { LogFile, type Start } from './log-file.ts'
import { encodeRecord } from './record.ts'
import { Writer } from './writer.ts'

export class JsonlLog implements SessionLog {
  readonly path: string
  private readonly world: World
  private readonly layout: Layout
  private readonly file: LogFile
  private readonly writer: Writer

  /** `last` is the seq of the last event on disk, -1 for a new log. */
  constructor(world: World, id: string, layout: Layout, start: Start, last: number) {
    this.world = world
    this.layout = layout
    this.path = layout.events
    this.file = new LogFile(world, id, layout, start)
    this.writer = new Writer(this.file, layout.events, last)
  }

  write(event: SessionEvent, line: string): void {
    this.writer.add(event.seq, encodeRecord(line))
  }

  durable(seq: number): Promise<void> {
    return this.writer.durable(seq)
  }

  async putBlob(digest: string, bytes: Uint8Array): Promise<void> {
    const { layout, world } = this
    try {
      await this.file.prepare()
      await putBlob(world.disk, layout.blobs, digest, bytes)
    } catch (error) {
      if (isSluiceError(error)) throw error
      throw storeErrors('STORE_UNWRITABLE', { path: layout.blobs, code: codeOf(error) }, { cause: error })
    }
  }

  async getBlob(digest: string): Promise<Uint8Array | undefined> {
    const { layout, world } = this
    try {
      return await getBlob(world.disk, layout.blobs, digest)
    } catch (error) {
      throw storeErrors('STORE_UNREADABLE', { path: layout.blobs, code: codeOf(error) }, { cause: error })
    }
  }

  async close(): Promise<void> {
    await this.writer.idle()
    await this.file.close()
  }
}

/** A log that only reads: its blobs can be had, nothing else. */
export class ReadOnlyLog implements SessionLog {
  readonly path: string
  private readonly world: World
  private readonly layout: Layout

  constructor(world: World, layout: Layout) {
    this.world = world
    this.layout = layout
    this.path = layout.events
  }

  write(): void {
    throw storeErrors('STORE_UNWRITABLE', { path: this.path, code: 'opened for reading' })
  }

  durable(): Promise<void> {
    return Promise.resolve()
  }

  putBlob(): Promise<void> {
    return Promise.reject(storeErrors('STORE_UNWRITABLE', { path: this.layout.blobs, code: 'opened for reading' }))
  }

  getBlob(digest: string): Promise<Uint8Array | undefined> {
    return getBlob(this.world.disk, this.layout.blobs, digest)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
