/** Owns turning the stream of an AI SDK model into stream parts. */
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import type { FinishReason, StreamPart, Usage } from '@sluice/llm'
import { messageOf } from '@sluice/base'
import { llmErrors } from '@sluice/llm'
import { NO_FINISH } from './chat-chunks.ts'

/** @throws LLM_BROKEN when the stream holds an error */
export async function* streamParts(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  url: string,
): AsyncGenerator<StreamPart, void, undefined> {
  for await (const part of stream) {
    if (part.type === 'error') {
      throw llmErrors('LLM_BROKEN', { url, problem: messageOf(part.error) })
    }
    const turned = streamPart(part)
    if (turned) yield turned
    if (part.type === 'finish') return
  }
}

/** Nothing for what only marks where a block begins or ends. */
function streamPart(part: LanguageModelV3StreamPart): StreamPart | undefined {
  if (part.type === 'text-delta') return { type: 'text', text: part.delta }
  if (part.type === 'reasoning-delta') return { type: 'reasoning', text: part.delta }
  if (part.type === 'tool-input-start') return { type: 'tool-call-started', id: part.id, name: part.toolName }
  if (part.type === 'tool-call') {
    return { type: 'tool-call', id: part.toolCallId, name: part.toolName, argumentsText: part.input }
  }
  if (part.type === 'finish') return { type: 'finish', reason: reasonOf(part.finishReason), ...usageOf(part.usage) }
  return undefined
}

function reasonOf({ unified, raw }: LanguageModelV3FinishReason): FinishReason {
  if (raw === NO_FINISH) return 'incomplete'
  switch (unified) {
    case 'stop':
    case 'length':
    case 'tool-calls':
      return unified
    case 'content-filter':
      return 'filter'
    case 'error':
    case 'other':
      return 'error'
  }
}

function usageOf(usage: LanguageModelV3Usage): { usage?: Usage } {
  if (usage.raw === undefined) return {}
  const counts = {
    inputTokens: usage.inputTokens.total,
    outputTokens: usage.outputTokens.total,
    // Zero where the endpoint did not tell: left out, as everything that is not known.
    cachedInputTokens: usage.inputTokens.cacheRead || undefined,
  }
  return { usage: Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined)) }
}
