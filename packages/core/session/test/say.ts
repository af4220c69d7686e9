/** Owns short ways to append what the tests of this package talk about. */
import type { Card, FinishReason, Session, SessionEvent, ToolResultData } from '../src/index.ts'

export const card: Card = { v: 1, kind: 'generic', title: 'probe' }

export function text(value: string) {
  return [{ type: 'text', text: value }] as const
}

export function user(session: Session, value: string, source = 'user'): SessionEvent<'user/message'> {
  return session.append('user/message', { content: text(value), source })
}

/** A call block as `id` or `id:argument text`. */
function block(call: string) {
  const [id, ...rest] = call.split(':')
  return {
    type: 'tool-call',
    id: id ?? '',
    name: 'probe',
    argumentsText: rest.length > 0 ? rest.join(':') : '{}',
  } as const
}

export function assistant(session: Session, value: string, calls: readonly string[] = []) {
  const content = [...(value === '' ? [] : text(value)), ...calls.map(block)]
  const finish: FinishReason = calls.length > 0 ? 'tool-calls' : 'stop'
  return session.append('assistant/message', { content, finish, model: 'test/model' })
}

export function taken(session: Session, callId: string, readOnly = false, index = 0) {
  return session.append('tool/call', { callId, tool: 'probe', argumentsText: '{}', readOnly, card, batch: 0, index })
}

export function resultData(callId: string, value = `result ${callId}`, contexts?: readonly string[]): ToolResultData {
  return {
    callId,
    tool: 'probe',
    outcome: { tag: 'succeeded', executed: 'yes' },
    content: text(value),
    card,
    ...(contexts && { contexts }),
  }
}

export function result(session: Session, callId: string, value?: string, contexts?: readonly string[]) {
  return session.append('tool/result', resultData(callId, value, contexts))
}

/** One short word per message: `user hi`, `assistant hi(a,b)`, `result a`. */
export function brief(session: Session): string[] {
  return session.messages().map((message) => {
    const said = message.content.map((part) => ('text' in part ? part.text : '')).join('')
    if (message.role === 'tool') return `result ${message.callId}`
    if (message.role === 'user') return `user ${said}`
    const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : []))
    return `assistant ${said}${calls.length > 0 ? `(${calls.join(',')})` : ''}`
  })
}
