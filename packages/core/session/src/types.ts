/** Owns `ctx.sessions` as other packages see it, in the words of the files that it passes on. */
import type {} from 'cordis'
import type { BlobRef, Message } from './content.ts'
import type { SessionEvent } from './envelope.ts'
import type { SessionEventMap, SessionEventType } from './event-map.ts'
import type { Fold } from './fold.ts'
import type { LogFinding, LogHolder, RepairedLog, SessionStore, SessionSummary } from './store.ts'
import type { EventDefinition, EventTable } from './vocabulary.ts'

export type * from './card.ts'
export type * from './content.ts'
export type * from './envelope.ts'
export type * from './event-map.ts'
export type { Fold } from './fold.ts'
export type * from './outcome.ts'
export type * from './store.ts'
export type { EventDefinition, EventTable } from './vocabulary.ts'

export interface Session {
  readonly id: string
  readonly cwd: string
  /** Every event, in order; after a resume from a checkpoint those from `firstSeq` on. A live view: it grows. */
  readonly events: readonly SessionEvent[]
  /** Seq of the first of `events`: 0 unless the session was resumed from a checkpoint. */
  readonly firstSeq: number
  /** False after damage, a foreign writer or a closed log; `append` then throws. */
  readonly writable: boolean
  /** What was found wrong when the log was opened. */
  readonly findings: readonly LogFinding[]
  /** Appends to memory at once and to the store soon; see {@link durable}. Data is checked, copied losslessly and frozen.
   *  @throws SESSION_EVENT_INVALID, SESSION_TYPE_UNKNOWN, SESSION_READ_ONLY */
  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], options?: { cause?: number }): SessionEvent<T>
  append(type: string, data: unknown, options?: { cause?: number }): SessionEvent
  /** Resolves when every event up to `seq` (default: all) is on disk. Rejects when that failed; order is kept.
   *  @throws SESSION_NOT_DURABLE */
  durable(seq?: number): Promise<void>
  /** Current state of a fold; computed incrementally.
   *  @throws SESSION_FOLD_NOT_KEPT after a resume from a checkpoint that does not hold this fold */
  fold<S>(fold: Fold<S>): S
  /** The history that the next model request sends. Incremental. */
  messages(): readonly Message[]
  /** Called after each append with the frozen event. The disposer ends it. */
  subscribe(listener: (event: SessionEvent) => void): () => void
  /** Pieces are stored as they come and never held all at once; where they fail nothing is stored. */
  putBlob(bytes: Uint8Array | AsyncIterable<Uint8Array>, info: { mediaType: string; name?: string }): Promise<BlobRef>
  getBlob(ref: BlobRef): Promise<Uint8Array | undefined>
  /** Runs before the log is released, and is waited for; it may still append. The disposer ends it. */
  onClosing(work: () => void | Promise<void>): () => void
  /** Ends what {@link onClosing} names, waits for what is queued, then releases the log. */
  close(): Promise<void>
}

export interface CreateSessionOptions {
  readonly cwd: string
  readonly id?: string
  readonly parent?: { readonly id: string; readonly seq: number }
  readonly composition?: string
}

export interface OpenSessionOptions {
  /** For writing: every event is read, so that `events` has them all and any fold can be asked for. */
  readonly whole?: true
}

export interface ForkOptions {
  /** The child holds the parent's events up to the last end of a turn at or before this one. Default: its last event. */
  readonly seq?: number
  readonly id?: string
  readonly composition?: string
}

/** `ctx.sessions`. */
export interface Sessions {
  /** Registers event types for as long as the calling plugin is mounted, or until the disposer is called: a generator
   *  effect that yields it decides when they go. Types of plugins are always optional. @throws SESSION_TYPE_TAKEN */
  define(table: EventTable): () => Promise<void>
  /** Registers a fold for as long as the calling plugin is mounted: checkpoints hold it. Its name is its own. */
  registerFold(fold: Fold<unknown>): () => void
  /** Registered types, sorted, with their owner. */
  types(): readonly { readonly type: string; readonly owner: string; readonly definition: EventDefinition }[]
  /** @throws SESSION_ID_INVALID, SESSION_EXISTS */
  create(options: CreateSessionOptions): Promise<Session>
  /** Opens an existing session and closes what its last writer left unfinished. A damaged one opens read-only, with findings.
   *  For writing, what came before the last checkpoint is not read where it is certain to be as it was.
   *  @throws SESSION_NOT_FOUND, SESSION_LOCKED, SESSION_NEWER_FORMAT, SESSION_NOT_A_LOG */
  open(id: string, mode?: 'write' | 'read', options?: OpenSessionOptions): Promise<Session>
  /** A new session with the same past and a future of its own. The parent is only read.
   *  @throws SESSION_FORK_REFUSED, SESSION_NOT_FOUND, SESSION_EXISTS */
  fork(id: string, options?: ForkOptions): Promise<Session>
  /** Shows every event without keeping them in memory; resolves to what is wrong with the log and its blobs, in the order
   *  of its lines. */
  scan(id: string, visit: (event: SessionEvent) => void): Promise<readonly LogFinding[]>
  /** Makes a damaged log whole and keeps the old one. @throws SESSION_NOT_FOUND, SESSION_LOCKED */
  repair(id: string): Promise<RepairedLog>
  /** With `last`, only while the session ends with that event.
   *  @throws SESSION_NOT_FOUND, SESSION_LOCKED, SESSION_CHANGED */
  remove(id: string, last?: number): Promise<void>
  /** Who holds the session for writing, if anybody does. @throws SESSION_NOT_FOUND */
  holder(id: string): Promise<LogHolder | undefined>
  /** Takes the session away from a holder on another host that is known to be gone. @throws SESSION_NOT_FOUND, SESSION_LOCKED */
  unlock(id: string, holder: LogHolder): Promise<void>
  /** A live session of this process. */
  get(id: string): Session | undefined
  list(): Promise<SessionSummary[]>
}

declare module 'cordis' {
  interface Context {
    sessions: Sessions
    sessionStore: SessionStore
  }
}
