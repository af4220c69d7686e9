/** Owns turning the stream of one model request into one reply, whole or partial. */
import { isSluiceError, messageOf } from '@sluice/base'
import type { StreamPart } from '@sluice/llm'
import type { AssistantPart, FinishReason, Usage } from '@sluice/session'
import { agentErrors } from './errors.ts'

/** Characters of text, reasoning and arguments together. */
export const REPLY_CHARS_MAX = 16 * 1024 * 1024

export interface Reply {
  readonly content: readonly AssistantPart[]
  readonly finish: FinishReason
  readonly usage?: Usage
  /** Why the reply is not whole. */
  readonly failure?: { readonly code: string; readonly message: string }
}

/** Reads `stream` to its end, or until it fails or `signal` fires; what was received is kept. Never rejects. */
export async function collectReply(
  model: string,
  stream: () => AsyncIterable<StreamPart>,
  signal: AbortSignal,
  onPiece: (piece: StreamPart) => void,
): Promise<Reply> {
  const content: AssistantPart[] = []
  let usage: Usage | undefined
  let finish: FinishReason | undefined
  let chars = 0
  const failed = (error: unknown): Reply => {
    const aborted = signal.aborted
    const failure = aborted
      ? { code: 'aborted', message: messageOf(signal.reason) }
      : isSluiceError(error)
        ? { code: error.code, message: error.message }
        : {
            code: 'AGENT_REPLY_FAILED',
            message: agentErrors('AGENT_REPLY_FAILED', { model, problem: messageOf(error) }).message,
          }
    return { content, finish: aborted ? 'aborted' : 'error', ...(usage && { usage }), failure }
  }
  try {
    signal.throwIfAborted()
    for await (const piece of stream()) {
      onPiece(piece)
      if (piece.type === 'finish') {
        finish = piece.reason
        usage = piece.usage
        break
      }
      chars += add(content, piece)
      if (chars > REPLY_CHARS_MAX) throw agentErrors('AGENT_REPLY_TOO_LONG', { model, charsMax: REPLY_CHARS_MAX })
    }
  } catch (error) {
    return failed(error)
  }
  if (finish === 'aborted' && signal.aborted) return failed(signal.reason)
  if (finish === undefined || finish === 'incomplete') {
    const { code, message } = agentErrors('AGENT_REPLY_INCOMPLETE', { model })
    return { content, finish: 'incomplete', ...(usage && { usage }), failure: { code, message } }
  }
  return { content, finish, ...(usage && { usage }) }
}

/** Adds a piece to the content, joining neighbours of one kind; says how many characters it has. */
function add(content: AssistantPart[], piece: Exclude<StreamPart, { type: 'finish' }>): number {
  if (piece.type === 'tool-call-started') return 0
  if (piece.type === 'tool-call') {
    const { id, name, argumentsText } = piece
    content.push({ type: 'tool-call', id, name, argumentsText })
    return id.length + name.length + argumentsText.length
  }
  const last = content.at(-1)
  if (last?.type === piece.type) content[content.length - 1] = { type: piece.type, text: last.text + piece.text }
  else if (piece.text !== '') content.push({ type: piece.type, text: piece.text })
  return piece.text.length
}
