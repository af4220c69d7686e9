/** Owns group commit: lines wait in memory until they are on disk; those that arrive during a sync share the next one. */
import { assert, isSluiceError } from '@sluice/base'
import { codeOf } from './disk.ts'
import { storeErrors } from './errors.ts'
import type { LogFile } from './log-file.ts'

/** Characters of unacknowledged lines kept in memory. */
export const BACKLOG_MAX = 32 << 20
/** Written bytes that may wait for a sync nobody has asked for. */
export const UNSYNCED_BYTES_MAX = 1 << 20

interface Line {
  readonly seq: number
  readonly text: string
}

interface Mark {
  readonly seq: number
  offset: number
  readonly resolve: (offset: number) => void
  readonly reject: (error: unknown) => void
}

interface Waiter {
  readonly seq: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Writer {
  private readonly file: LogFile
  private readonly path: string
  /** Lines that are not acknowledged, oldest first; the first `handed` of them have been written. */
  private lines: Line[] = []
  private handed = 0
  private backlog = 0
  private unsyncedBytes = 0
  private acknowledged: number
  private last: number
  private waiters: Waiter[] = []
  private marks: Mark[] = []
  private running: Promise<void> | undefined
  /** Set by a failure: nothing is tried again until somebody waits. */
  private failed = false
  /** Set when the file is not ours any more: nothing is tried again at all. */
  private broken: Error | undefined

  constructor(file: LogFile, path: string, acknowledged: number) {
    this.file = file
    this.path = path
    this.acknowledged = this.last = acknowledged
  }

  /** @throws STORE_BACKLOG_FULL, STORE_FOREIGN_CHANGE */
  add(seq: number, text: string): void {
    if (this.broken !== undefined) throw this.broken
    if (this.backlog + text.length > BACKLOG_MAX) {
      throw storeErrors('STORE_BACKLOG_FULL', { path: this.path, charactersMax: BACKLOG_MAX })
    }
    assert(seq === this.last + 1, `event ${seq} is written after event ${this.last}`)
    this.lines.push({ seq, text })
    this.last = seq
    this.backlog += text.length
    if (!this.failed) this.run()
  }

  /** Resolves when everything up to `seq` is on disk. */
  durable(seq: number): Promise<void> {
    if (Math.min(seq, this.last) <= this.acknowledged) return Promise.resolve()
    if (this.broken !== undefined) return Promise.reject(this.broken)
    return new Promise((resolve, reject) => {
      this.waiters.push({ seq: Math.min(seq, this.last), resolve, reject })
      this.failed = false
      this.run()
    })
  }

  /** Where the record written last ends, once it is on disk. */
  async endOfLast(): Promise<number> {
    const { last: seq } = this
    if (seq <= this.acknowledged) return this.file.acknowledgedBytes
    return new Promise<number>((resolve, reject) => {
      this.marks.push({ seq, offset: 0, resolve, reject })
      this.durable(seq).catch(() => {})
    })
  }

  /** Waits until nothing runs. */
  async idle(): Promise<void> {
    while (this.running) await this.running
  }

  private run(): void {
    this.running ??= this.loop()
  }

  private async loop(): Promise<void> {
    // Lines and waiters of the same moment belong to the same batch.
    await Promise.resolve()
    let restarts = 0
    while (this.handed < this.lines.length || this.mustSync()) {
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

  private mustSync(): boolean {
    return this.waiters.length > 0 || this.unsyncedBytes > UNSYNCED_BYTES_MAX
  }

  private async round(): Promise<void> {
    if (this.file.mustRestart) {
      await this.file.restart()
      this.handed = 0
      this.unsyncedBytes = 0
    }
    if (this.handed < this.lines.length) {
      const upTo = this.lines.length
      let text = ''
      const base = this.file.writtenBytes
      for (let i = this.handed; i < upTo; i++) {
        const line = this.lines[i] as Line
        text += line.text
        const mark = this.marks.find((each) => each.seq === line.seq)
        if (mark) mark.offset = base + Buffer.byteLength(text)
      }
      const bytes = Buffer.from(text, 'utf8')
      await this.file.write(bytes)
      this.handed = upTo
      this.unsyncedBytes += bytes.length
    }
    if (!this.mustSync()) return
    const covered = this.handed
    await this.file.sync()
    this.acknowledge(covered)
  }

  private acknowledge(count: number): void {
    for (let i = 0; i < count; i++) this.backlog -= (this.lines[i] as Line).text.length
    this.acknowledged = this.lines[count - 1]?.seq ?? this.acknowledged
    this.lines = this.lines.slice(count)
    this.handed -= count
    this.unsyncedBytes = 0
    const waiting = this.waiters
    this.waiters = waiting.filter((waiter) => waiter.seq > this.acknowledged)
    for (const waiter of waiting) if (waiter.seq <= this.acknowledged) waiter.resolve()
    const marks = this.marks
    this.marks = marks.filter((mark) => mark.seq > this.acknowledged)
    for (const mark of marks) if (mark.seq <= this.acknowledged) mark.resolve(mark.offset)
  }

  private fail(cause: unknown): void {
    const { path } = this
    const error = isSluiceError(cause)
      ? cause
      : storeErrors('STORE_UNWRITABLE', { path, code: codeOf(cause) }, { cause })
    this.failed = true
    if (isSluiceError(error, 'STORE_FOREIGN_CHANGE')) this.broken = error
    const failed = this.waiters
    this.waiters = []
    for (const waiter of failed) waiter.reject(error)
    for (const mark of this.marks.splice(0)) mark.reject(error)
  }
}
