/** Owns the words of a session: events, messages, content, cards, stores. */
import type {} from 'cordis'
import type { Json, JsonObject } from '@sluice/base'
import type { TSchema } from 'typebox'

// ---- content and messages -------------------------------------------------------------------------------------------

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** An image by reference: the bytes are a blob of the session. */
export interface ImagePart {
  readonly type: 'image'
  readonly mediaType: string
  readonly blob: BlobRef
}

export type ContentPart = TextPart | ImagePart

export interface BlobRef {
  /** sha-256 in hex. */
  readonly digest: string
  /** Bytes. */
  readonly size: number
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  /** Argument text exactly as the model wrote it. */
  readonly argumentsText: string
}

export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
}

export type AssistantPart = TextPart | ReasoningPart | ToolCallPart

export interface UserMessage {
  readonly role: 'user'
  readonly content: readonly ContentPart[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly content: readonly AssistantPart[]
}

export interface ToolResultMessage {
  readonly role: 'tool'
  readonly callId: string
  readonly tool: string
  readonly content: readonly ContentPart[]
  readonly isError: boolean
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage

export type FinishReason = 'stop' | 'tool-calls' | 'length' | 'filter' | 'error' | 'aborted' | 'incomplete'

/** Tokens; a provider that does not tell leaves a field out. */
export interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
}

// ---- cards ----------------------------------------------------------------------------------------------------------

/** How to show a call or a result; made by pure functions, stored in the log. `v` is the version of the card format. */
export type Card =
  | { readonly v: 1; readonly kind: 'generic'; readonly title: string; readonly text?: string }
  | {
      readonly v: 1
      readonly kind: 'terminal'
      readonly title: string
      readonly command: string
      readonly output?: string
      readonly exitCode?: number | null
    }
  | { readonly v: 1; readonly kind: 'diff'; readonly title: string; readonly path: string; readonly diff: string }
  | {
      readonly v: 1
      readonly kind: 'search'
      readonly title: string
      readonly query: string
      readonly hits?: number
      readonly text?: string
    }
  | { readonly v: 1; readonly kind: 'read'; readonly title: string; readonly path: string; readonly lines?: string }
  | { readonly v: 1; readonly kind: 'web'; readonly title: string; readonly url: string }
  | {
      readonly v: 1
      readonly kind: 'todo'
      readonly title: string
      readonly items: readonly { readonly text: string; readonly status: 'pending' | 'doing' | 'done' }[]
    }

// ---- events ---------------------------------------------------------------------------------------------------------

/** Event types and their data; the owner of a type adds it by module augmentation. */
export interface SessionEventMap {
  'session/started': { format: 1; id: string; cwd: string; parent?: { id: string; seq: number }; composition?: string }
  'session/resumed': { pid: number; host: string }
  'session/repaired': { interrupted: readonly string[]; closed: number }
  'session/lost': { detail: string }
  'turn/started': { turn: number }
  'turn/ended': { turn: number; reason: TurnEndReason; detail?: string; code?: string }
  'step/started': { turn: number; step: number }
  'step/ended': { turn: number; step: number }
  'user/message': { content: readonly ContentPart[]; source: string }
  'assistant/message': {
    content: readonly AssistantPart[]
    finish: FinishReason
    model: string
    usage?: Usage
    /** Present when the stream broke: what is kept is partial, its calls are not run. */
    interrupted?: string
    /** Ids as the model gave them, where one had to be replaced: by index among the calls. */
    originalIds?: { readonly [index: string]: string }
  }
  'request/changed': { model: string; system: BlobRef; tools: BlobRef; toolNames: readonly string[] }
  'tool/call': ToolCallData
  'tool/rewritten': {
    callId: string
    by: string
    before: JsonObject
    after: JsonObject
    card: Card
  }
  'tool/started': { callId: string; attempt: number }
  'tool/result': ToolResultData
  'tool/code-dispatch': {
    callId: string
    parent: string
    phase: 'start' | 'settle'
    call?: ToolCallData
    result?: ToolResultData
  }
  'approval/asked': { callId: string; question: string; asks: readonly AskData[]; card: Card }
  'approval/decided': {
    callId: string
    decision: 'allowed-once' | 'rejected' | 'cancelled' | 'unavailable'
    by: string
    message?: string
    offer?: string
  }
  'compaction/done': { upTo: number; summary: string }
  'blob/stored': { blob: BlobRef; mediaType: string; name?: string }
}

export type TurnEndReason = 'completed' | 'aborted' | 'blocked' | 'error' | 'length' | 'budget' | 'interrupted'

export interface AskData {
  readonly by: string
  readonly reason: string
  readonly rule?: string
  readonly offers?: readonly { readonly id: string; readonly text: string }[]
}

export interface ToolCallData {
  callId: string
  tool: string
  argumentsText: string
  /** Present when the call was admitted: the arguments that were validated. */
  arguments?: JsonObject
  readOnly: boolean
  card: Card
  batch: number
  index: number
  originalId?: string
  /** What was changed to make the arguments fit, in words. */
  repairs?: readonly string[]
}

export type Executed = 'yes' | 'no' | 'unknown'

/** How a call ended. Exactly one per call. */
export type Outcome =
  | { readonly tag: 'succeeded'; readonly executed: Executed; readonly late?: true }
  | {
      readonly tag: 'failed'
      readonly executed: Executed
      readonly code: string
      readonly message: string
      readonly by?: string
    }
  | {
      readonly tag: 'denied'
      readonly executed: 'no'
      readonly stage: string
      readonly by: string
      readonly reason: string
      readonly code?: string
      readonly rule?: string
    }
  | { readonly tag: 'aborted'; readonly executed: Executed; readonly reason: string }
  | { readonly tag: 'timed-out'; readonly executed: Executed; readonly reason: string; readonly by?: string }
  | {
      readonly tag: 'invalid'
      readonly executed: 'no'
      readonly problems: readonly { readonly path: string; readonly problem: string }[]
      readonly by?: string
    }
  | { readonly tag: 'unknown-tool'; readonly executed: 'no'; readonly nearest: readonly string[] }
  | { readonly tag: 'interrupted'; readonly executed: Executed }

export interface ToolResultData {
  callId: string
  tool: string
  outcome: Outcome
  content: readonly ContentPart[]
  value?: Json
  /** In place of a value whose text is longer than `inlineBytesMax`: its JSON as a blob, and how it begins. */
  valueBlob?: { blob: BlobRef; preview: string }
  card: Card
  /** Context for the model, to be injected after the last result of the batch. */
  contexts?: readonly string[]
  /** The steps the call took, as JSON text of an array of steps; absent when the call was settled by repair. */
  trace?: string
  durationMs?: number
  queuedMs?: number
}

export type SessionEventType = keyof SessionEventMap

/** One event as it stands in the log. Deeply frozen. */
export interface SessionEvent<T extends string = string> {
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly type: T
  readonly data: T extends SessionEventType ? Readonly<SessionEventMap[T]> : Json
  /** Sequence number of the event that this one answers. */
  readonly cause?: number
  /** A reader that does not know the type may skip it. */
  readonly optional?: true
}

/** Any event of the core vocabulary, discriminated by `type`. */
export type KnownEvent = { [T in SessionEventType]: SessionEvent<T> }[SessionEventType]

export interface EventDefinition {
  readonly version: number
  /** One sentence. */
  readonly meaning: string
  readonly schema: TSchema
  readonly modelVisible?: boolean
}

export type EventTable = { readonly [type: string]: EventDefinition }

/** A fold: state computed from events in order. `step` is pure and returns the next state. */
export interface Fold<S> {
  readonly name: string
  readonly version: number
  readonly initial: S
  step(state: S, event: SessionEvent): S
}

// ---- session and service --------------------------------------------------------------------------------------------

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
  putBlob(bytes: Uint8Array, info: { mediaType: string; name?: string }): Promise<BlobRef>
  getBlob(ref: BlobRef): Promise<Uint8Array | undefined>
  /** Waits for what is queued, then releases the log. */
  close(): Promise<void>
}

export interface SessionSummary {
  readonly id: string
  readonly cwd: string
  readonly startedAt: number
  readonly path?: string
  /** Why nothing more can be told of it. */
  readonly problem?: string
}

/** Something found wrong while opening a log. */
export interface LogFinding {
  readonly kind:
    | 'torn-tail'
    | 'bad-json'
    | 'bad-crc'
    | 'gap'
    | 'duplicate-seq'
    | 'unknown-type'
    | 'bad-event'
    | 'newer-format'
    | 'not-a-log'
  /** 1-based line number. */
  readonly line: number
  readonly detail: string
}

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
  /** Present when one was wanted and fits the log. */
  readonly checkpoint?: Checkpoint
}

/** One log being written. `write` is synchronous and ordered; `durable` is group-committed. */
export interface SessionLog {
  /** The event is frozen and lossless, its keys in the order of the file. */
  write(event: SessionEvent): void
  durable(seq: number): Promise<void>
  putBlob(digest: string, bytes: Uint8Array): Promise<void>
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
  /** Read only what follows the checkpoint, if there is one that fits. */
  readonly checkpoint?: true
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
  scan(id: string, visit: (event: SessionEvent) => void): Promise<readonly LogFinding[]>
  /** Newest first. */
  list(): Promise<SessionSummary[]>
  /** Makes a damaged log whole, so that it can be written again, and keeps what it was. Events that are not
   *  accepted count as damage. Throws like `open`. */
  repair(id: string, accepts?: (event: SessionEvent) => boolean): Promise<RepairedLog>
  /** @throws SESSION_NOT_FOUND, SESSION_LOCKED */
  remove(id: string): Promise<void>
}

export interface CreateSessionOptions {
  readonly cwd: string
  readonly id?: string
  readonly parent?: { readonly id: string; readonly seq: number }
  readonly composition?: string
}

export interface OpenSessionOptions {
  /** Resume from the last checkpoint, without reading what came before, if it holds every registered fold. */
  readonly checkpoint?: true
}

export interface ForkOptions {
  /** The child holds the parent's events up to the last end of a turn at or before this one. Default: its last event. */
  readonly seq?: number
  readonly id?: string
  readonly composition?: string
}

/** `ctx.sessions`. */
export interface Sessions {
  /** Registers event types for as long as the calling plugin is mounted. Types of plugins are always optional.
   *  @throws SESSION_TYPE_TAKEN */
  define(table: EventTable): () => void
  /** Registers a fold for as long as the calling plugin is mounted: checkpoints hold it. Its states are lossless JSON,
   *  its name is its own. */
  registerFold(fold: Fold<unknown>): () => void
  /** Registered types, sorted, with their owner. */
  types(): readonly { readonly type: string; readonly owner: string; readonly definition: EventDefinition }[]
  /** @throws SESSION_ID_INVALID, SESSION_EXISTS */
  create(options: CreateSessionOptions): Promise<Session>
  /** Opens an existing session and closes what its last writer left unfinished. A damaged one opens read-only, with findings.
   *  @throws SESSION_NOT_FOUND, SESSION_LOCKED, SESSION_NEWER_FORMAT, SESSION_NOT_A_LOG */
  open(id: string, mode?: 'write' | 'read', options?: OpenSessionOptions): Promise<Session>
  /** A new session with the same past and a future of its own. The parent is only read.
   *  @throws SESSION_FORK_REFUSED, SESSION_NOT_FOUND, SESSION_EXISTS */
  fork(id: string, options?: ForkOptions): Promise<Session>
  /** Shows every event without keeping them in memory; resolves to what is wrong with the log. */
  scan(id: string, visit: (event: SessionEvent) => void): Promise<readonly LogFinding[]>
  /** Makes a damaged log whole and keeps the old one. @throws SESSION_NOT_FOUND, SESSION_LOCKED */
  repair(id: string): Promise<RepairedLog>
  /** @throws SESSION_NOT_FOUND, SESSION_LOCKED */
  remove(id: string): Promise<void>
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
