/** Owns messages as a model reads and writes them, part by part. */

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
