/** Owns the check of one stream part: what an adapter gave becomes a clean part, or is refused. */
import type { StreamPart, Usage } from './types.ts'
import { llmErrors } from './errors.ts'

const finishReasons = new Set(['stop', 'tool-calls', 'length', 'filter', 'error', 'aborted', 'incomplete'])

/** A part with its known fields only.
 *  @throws LLM_PART_INVALID */
export function checkedPart(part: unknown, provider: string): StreamPart {
  const refuse = (problem: string) => llmErrors('LLM_PART_INVALID', { provider, problem })
  if (typeof part !== 'object' || part === null) throw refuse(`${typeof part} instead of a part`)
  const given = part as Record<string, unknown>
  const text = (field: string): string => {
    const value = given[field]
    if (typeof value !== 'string') throw refuse(`a ${String(given.type)} part whose ${field} is not a string`)
    return value
  }
  switch (given.type) {
    case 'text':
    case 'reasoning':
      return { type: given.type, text: text('text') }
    case 'tool-call-started':
      return { type: 'tool-call-started', id: text('id').toWellFormed(), name: text('name').toWellFormed() }
    case 'tool-call': {
      const id = text('id').toWellFormed()
      if (id === '') throw refuse('a tool-call part without an id')
      const argumentsText = text('argumentsText').toWellFormed()
      return { type: 'tool-call', id, name: text('name').toWellFormed(), argumentsText }
    }
    case 'finish': {
      const reason = text('reason')
      if (!finishReasons.has(reason)) throw refuse(`the unknown finish reason ${JSON.stringify(reason.slice(0, 40))}`)
      const usage = checkedUsage(given.usage)
      return { type: 'finish', reason, ...(usage && { usage }) } as StreamPart
    }
    default:
      throw refuse(`a part of the unknown type ${JSON.stringify(String(given.type).slice(0, 40))}`)
  }
}

/** Counts that make sense; what a provider tells wrongly is left out, never guessed. */
function checkedUsage(usage: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  const counts: { -readonly [K in keyof Usage]: Usage[K] } = {}
  for (const key of ['inputTokens', 'outputTokens', 'cachedInputTokens'] as const) {
    const count = (usage as Record<string, unknown>)[key]
    if (typeof count === 'number' && Number.isFinite(count) && count >= 0) counts[key] = count
  }
  return Object.keys(counts).length === 0 ? undefined : counts
}
