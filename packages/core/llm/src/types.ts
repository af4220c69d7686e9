/** Owns the words of a model request and its stream, and the port that a model adapter fills. */
import type {} from 'cordis'
import type { JsonObject } from '@sluice/base'
import type { FinishReason, Message, Session, Usage } from '@sluice/session'

export type {
  AssistantMessage,
  AssistantPart,
  ContentPart,
  FinishReason,
  ImagePart,
  Message,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultMessage,
  Usage,
  UserMessage,
} from '@sluice/session'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of an object. */
  readonly parameters: JsonObject
}

export interface ModelRequest {
  /** `provider/model`. */
  readonly model: string
  readonly system: string
  /** Frozen; each call answered once, right after its assistant message, in request order. */
  readonly messages: readonly Message[]
  readonly tools: readonly ToolSpec[]
  readonly signal: AbortSignal
  readonly outputTokensMax?: number
  readonly temperature?: number
  /** Resolves blobs that messages refer to. */
  readonly session?: Session
}

/** A piece of a stream. Tool calls come whole: the adapter puts their pieces together. */
export type StreamPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call-started'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string; readonly argumentsText: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage?: Usage }

/** What a model adapter does. A stream that ends without `finish` is treated as `incomplete`.
 *  Failures reject with LLM_REFUSED, LLM_UNREACHABLE, LLM_BROKEN or LLM_TIMED_OUT. */
export interface ModelAdapter {
  stream(request: ModelRequest): AsyncIterable<StreamPart>
}

/** `ctx.llm`. Every stream has well-formed text and valid parts, and ends with exactly one `finish`:
 *  `incomplete` when the adapter gives none, `aborted` when the signal fires. A failure rejects instead. */
export interface Llm {
  /** Serves models named `provider/…` for as long as the calling plugin is mounted; then its streams end.
   *  @throws LLM_PROVIDER_TAKEN */
  register(provider: string, adapter: ModelAdapter): () => void
  providers(): readonly string[]
  /** @throws LLM_NO_ADAPTER at once; while reading also LLM_PART_INVALID, and what the adapter throws */
  stream(request: ModelRequest): AsyncIterable<StreamPart>
}

declare module 'cordis' {
  interface Context {
    llm: Llm
  }
}
