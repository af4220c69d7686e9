/** Owns the check that a strict provider makes of a history: each call answered once, at once, in order. */
import type { Message } from '@sluice/llm'

/** The first reason why a strict provider would refuse `messages`, or `undefined`. */
export function pairingProblem(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>()
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as Message
    if (message.role === 'tool') return `message ${i} answers ${message.callId}, which the message before did not call`
    if (message.role !== 'assistant') continue
    for (const part of message.content) {
      if (part.type !== 'tool-call') continue
      if (seen.has(part.id)) return `message ${i} uses the call id ${part.id} again`
      seen.add(part.id)
    }
    const calls = message.content.filter((part) => part.type === 'tool-call')
    for (const call of calls) {
      const answer = messages[++i]
      if (answer?.role !== 'tool')
        return `message ${i} should answer the call ${call.id}, it is ${answer?.role ?? 'missing'}`
      if (answer.callId !== call.id) return `message ${i} answers ${answer.callId}, the next call is ${call.id}`
    }
  }
  return undefined
}

/** Throws when a strict provider would refuse `messages`: unpaired, unordered, or holding half a surrogate pair. */
export function assertPaired(messages: readonly Message[]): void {
  const problem = pairingProblem(messages)
  if (problem !== undefined) throw new Error(`a strict provider refuses this history: ${problem}`)
  if (/\\ud[89a-f][0-9a-f]{2}/.test(JSON.stringify(messages).replaceAll('\\\\', ''))) {
    throw new Error('a strict provider refuses this history: it holds a lone surrogate')
  }
}
