/** Owns group commit: records wait in memory until they are on disk; those that arrive during a sync share the next one. */
import { assert, isSluiceError } from '@sluice/base'
import { Backlog } from './backlog.ts'
import { codeOf } from './disk.ts'
import { storeErrors } from './errors.ts'
import type { LogFile } from './log-file.ts'

/** Bytes of unacknowledged records kept in memory, give or take how long a text is as UTF-8. */
export const BACKLOG_MAX = 32 << 20
/** Written bytes that may wait for a sync nobody has asked for. */
export const UNSYNCED_BYTES_MAX = 1 << 20

const done = Promise.resolve()

/** Everybody who waits for the same sync. */
class Group {
  resolve!: (value?: PromiseLike<void>) => void
  reject!: (error: unknown) => void
  readonly promise = new Promise<void>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })
}

export class Writer {
  private readonly file: LogFile
  private readonly path: string
  private readonly backlog: Backlog
  /** Seqs, each at most the next: on disk for certain; handed to the disk; the last of all. */
  private acknowledged: number
  private handed: number
  private last: number
  /** Who waits for what has been handed to the disk, and who for the rest. */
  private present: Group | undefined
  private next: Group | undefined
  private running: Promise<void> | undefined
  /** Set by a failure: nothing is tried again until somebody waits. */
  private failed = false
  /** Set when the file is not ours any more, or closed: nothing is tried again at all. */
  private broken: Error | undefined

  constructor(file: LogFile, path: string, acknowledged: number) {
    this.file = file
    this.path = path
    this.backlog = new Backlog(file.acknowledgedBytes)
    this.acknowledged = this.handed = this.last = acknowledged
  }

  /** @throws STORE_BACKLOG_FULL, STORE_FOREIGN_CHANGE, STORE_UNWRITABLE */
  add(seq: number, json: string): void {
    if (this.broken !== undefined) throw this.broken
    if (this.backlog.size + json.length > BACKLOG_MAX) {
      throw storeErrors('STORE_BACKLOG_FULL', { path: this.path, bytesMax: BACKLOG_MAX })
    }
    assert(seq === this.last + 1, `event ${seq} is written after event ${this.last}`)
    this.backlog.add(json)
    this.last = seq
    if (!this.failed) this.run()
  }

  /** Resolves when everything up to `seq` is on disk. */
  durable(seq: number): Promise<void> {
    const upTo = Math.min(seq, this.last)
    if (upTo <= this.acknowledged) return done
    if (this.broken !== undefined) return Promise.reject(this.broken)
    this.failed = false
    this.run()
    return (upTo <= this.handed ? (this.present ??= new Group()) : (this.next ??= new Group())).promise
  }

  /** Where the record written last ends, once it is on disk. */
  async endOfLast(): Promise<number> {
    const { end } = this.backlog
    await this.durable(this.last)
    return end
  }

  /** Nothing waits for the disk. */
  get isSettled(): boolean {
    return this.acknowledged === this.last
  }

  get lastSeq(): number {
    return this.last
  }

  /** Waits until nothing runs; nothing is tried afterwards, since the file may be another writer's by then. */
  async end(): Promise<void> {
    while (this.running) await this.running
    this.broken ??= storeErrors('STORE_UNWRITABLE', { path: this.path, code: 'closed' })
  }

  private run(): void {
    this.running ??= this.loop()
  }

  private async loop(): Promise<void> {
    // Records and waiters of the same moment belong to the same batch.
    await done
    let restarts = 0
    while (this.file.writtenBytes < this.backlog.end || this.next || this.isSyncDue()) {
      try {
        await this.round()
      } catch (error) {
        if (this.file.mustRestart && restarts++ === 0) continue
        this.fail(error)
        break
      }
    }
    this.running = undefined
  }

  private isSyncDue(): boolean {
    if (this.present) return true
    return this.file.writtenBytes - this.file.acknowledgedBytes > UNSYNCED_BYTES_MAX
  }

  private async round(): Promise<void> {
    const { file, backlog } = this
    if (file.mustRestart) await file.restart()
    this.handed = this.last
    // After a failure the present ones are waiting still.
    if (this.present) this.next?.resolve(this.present.promise)
    else this.present = this.next
    this.next = undefined
    if (file.writtenBytes < backlog.end) await file.write(backlog.from(file.writtenBytes))
    if (!this.isSyncDue()) return
    await file.sync()
    this.acknowledged = this.handed
    backlog.release(file.acknowledgedBytes)
    this.present?.resolve()
    this.present = undefined
  }

  private fail(cause: unknown): void {
    const { path } = this
    const error = isSluiceError(cause)
      ? cause
      : storeErrors('STORE_UNWRITABLE', { path, code: codeOf(cause) }, { cause })
    this.failed = true
    this.handed = this.acknowledged
    if (isSluiceError(error, 'STORE_FOREIGN_CHANGE')) this.broken = error
    const { present, next } = this
    this.present = this.next = undefined
    present?.reject(error)
    next?.reject(error)
  }
}
