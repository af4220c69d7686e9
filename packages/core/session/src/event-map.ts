/** Owns what the data of each event type is. */
import type { Json, JsonObject } from '@sluice/base'
import type { Card } from './card.ts'
import type { AssistantPart, BlobRef, ContentPart, FinishReason, Usage } from './content.ts'
import type { Outcome } from './outcome.ts'

/** Event types and their data; the owner of a type adds it by module augmentation. */
export interface SessionEventMap {
  'session/started': { format: 1; id: string; cwd: string; parent?: { id: string; seq: number }; composition?: string }
  'session/resumed': {
    pid: number
    host: string
    /** Processes of an earlier host that were still running and have been ended. */
    ended?: number
  }
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
  /** Counts only as the answer to an `approval/decided` that chose this very rule. */
  'permission/granted': { rule: string; by: string }
  'permission/revoked': { rule: string; by: string }
  'hook/invoked': { hook: HookId; callId?: string }
  'hook/result': {
    hook: HookId
    /** What counts of it: `none` and `no-verdict` leave it to others, or to the configuration; `interrupted`: it never ended. */
    decision: 'none' | 'allow' | 'ask' | 'deny' | 'no-verdict' | 'interrupted'
    /** Absent where it was ended by a signal, by its time limit, or could not be started. */
    exitCode?: number
    durationMs?: number
    stderrTail?: string
    /** Why there is no verdict, or the reason that it gave. */
    detail?: string
  }
  'compaction/done': { upTo: number; summary: string }
  'blob/stored': { blob: BlobRef; mediaType: string; name?: string }
}

export type TurnEndReason = 'completed' | 'aborted' | 'blocked' | 'error' | 'length' | 'budget' | 'interrupted'

/** Names a hook for as long as its configuration stays as it is: the file, the event, its place among those of the event. */
export interface HookId {
  readonly file: string
  readonly event: string
  readonly index: number
}

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
