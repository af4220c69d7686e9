/** Owns the port that a log store fills. */
import type { Json } from '@sluice/base'
import type { BlobRef } from './content.ts'
import type { SessionEvent } from './envelope.ts'

export interface SessionSummary {
  readonly id: string
  readonly cwd: string
  readonly startedAt: number
  readonly path?: string
  /** The last event that opening it would show; absent when nothing can be told of it. */
  readonly last?: Pick<SessionEvent, 'seq' | 'at'>
  /** Why nothing more can be told of it. */
  readonly problem?: string
  /** Present when it cannot be written before it is repaired, as far as a look at beginning and end tells. */
  readonly damage?: LogFinding
}

/** Who writes a session. */
export interface LogHolder {
  readonly pid: number
  readonly host: string
  /** Names this holding among all of them. */
  readonly token: string
}

/** Something found wrong while opening a log. */
export interface LogFinding {
  readonly kind:
    | 'torn-tail'
    | 'bad-json'
    | 'bad-crc'
    | 'gap'
    | 'duplicate-seq'
    | 'misplaced'
    | 'line-end'
    | 'unknown-type'
    | 'bad-event'
    | 'missing-blob'
    | 'bad-blob'
  /** 1-based line number. */
  readonly line: number
  readonly detail: string
}

/** What a look at a blob tells; `damaged`: other bytes stand in its place. */
export type BlobState = 'whole' | 'damaged' | 'missing'

/** Where a log stood, with the state of folds there: reading can go on from it. Disposable. */
export interface Checkpoint {
  /** Last event that the state covers. */
  readonly seq: number
  readonly state: Json
}

/** What a store hands back for an opened log. */
export interface OpenedLog {
  readonly log: SessionLog
  /** All events, or those after the checkpoint. */
  readonly events: readonly SessionEvent[]
  readonly findings: readonly LogFinding[]
  readonly writable: boolean
  /** Present when one was accepted. */
  readonly checkpoint?: Checkpoint
}

/** One log being written. `write` is synchronous and ordered; `durable` is group-committed. */
export interface SessionLog {
  /** The event is frozen and lossless, its keys in the order of the file. */
  write(event: SessionEvent): void
  durable(seq: number): Promise<void>
  putBlob(digest: string, bytes: Uint8Array): Promise<void>
  /** Stores pieces as they come, in order; they are not reused. Rejects when they do, and has stored nothing then. */
  streamBlob(pieces: AsyncIterable<Uint8Array>): Promise<BlobRef>
  getBlob(digest: string): Promise<Uint8Array | undefined>
  /** Makes a blob of another session of the store one of this log too; false when it is not there. */
  shareBlob(from: string, digest: string): Promise<boolean>
  /** Keeps a checkpoint beside the log, in place of the last one, once `seq` is durable. Called before anything is written
   *  after `seq`. Absent where it would not help. */
  keepCheckpoint?(checkpoint: Checkpoint): Promise<void>
  close(): Promise<void>
  /** Where a person finds it; absent for a memory store. */
  readonly path?: string
}

export interface OpenLogOptions {
  /** For writing: only what follows the checkpoint is read, if there is one, the log is certain to be as it was closed
   *  with it, and its state is accepted. */
  readonly accepts?: (state: Json) => boolean
}

export interface RepairedLog {
  /** What was wrong. */
  readonly findings: readonly LogFinding[]
  /** Events that are gone; `session/lost` stands in their places. */
  readonly lost: number
  /** The log as it was before; absent when nothing had to be changed. */
  readonly backup?: string
}

/** The port that a log store fills; provided as `ctx.sessionStore`. `./contract` holds the cases it must pass. */
export interface SessionStore {
  readonly kind: string
  /** Nothing is on disk before the first write. @throws SESSION_EXISTS */
  create(id: string): Promise<SessionLog>
  /** @throws SESSION_NOT_FOUND, SESSION_LOCKED, SESSION_NEWER_FORMAT, SESSION_NOT_A_LOG */
  open(id: string, mode: 'write' | 'read', options?: OpenLogOptions): Promise<OpenedLog>
  /** Shows every event in order without keeping them; resolves to what is wrong with the log. Throws like `open`. */
  scan(id: string, visit: (event: SessionEvent, line: number) => void): Promise<readonly LogFinding[]>
  /** Newest first. Reads no whole log of which it is known how far it was whole. */
  list(): Promise<SessionSummary[]>
  /** Makes a damaged log whole, so that it can be written again, and keeps what it was. Events that are not
   *  accepted count as damage. Throws like `open`. */
  repair(id: string, accepts?: (event: SessionEvent) => boolean): Promise<RepairedLog>
  /** Absent: a scan says nothing about blobs. */
  blobState?(id: string, digest: string): Promise<BlobState>
  /** With `last`, only while the session ends with that event.
   *  @throws SESSION_NOT_FOUND, SESSION_LOCKED, SESSION_CHANGED */
  remove(id: string, last?: number): Promise<void>
  /** Who holds the session for writing; one that is known to be dead holds nothing. @throws SESSION_NOT_FOUND */
  holder(id: string): Promise<LogHolder | undefined>
  /** Takes the session away from a holder on another host, which nobody here can see: a person has to know that it is gone.
   *  @throws SESSION_NOT_FOUND, SESSION_LOCKED when another holds it, or one of this host */
  unlock(id: string, holder: LogHolder): Promise<void>
}
