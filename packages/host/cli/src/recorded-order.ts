/** Owns the order in which a recorded session is told: what is inside a call comes after it, calls without a result last. */
import type { Card, KnownEvent, SessionEvent, ToolResultData } from '@sluice/session'
import { CallTree } from './call-tree.ts'

/** A settled call that another call made. */
export interface NestedResult {
  readonly result: Readonly<ToolResultData>
  readonly depth: number
}

export interface Told {
  /** An event, or the card of a call that has no result: its writer is still at it, or has died in it. */
  readonly what: SessionEvent | { readonly open: Card }
  readonly inside: readonly NestedResult[]
}

const nothing: readonly NestedResult[] = []

export function* toldInOrder(events: Iterable<SessionEvent>): Generator<Told> {
  const tree = new CallTree()
  const inside = new Map<string, NestedResult[]>()
  const open = new Map<string, Card>()
  for (const event of events) {
    const { type, data } = event as KnownEvent
    if (type === 'tool/call') open.set(data.callId, data.card)
    if (type === 'tool/code-dispatch') {
      const { root, depth } = tree.placeOf(data)
      if (data.result) inside.set(root, [...(inside.get(root) ?? []), { result: data.result, depth }])
    }
    if (type !== 'tool/result') {
      yield { what: event, inside: nothing }
      continue
    }
    const { callId } = data
    yield { what: event, inside: inside.get(callId) ?? nothing }
    tree.end(callId)
    inside.delete(callId)
    open.delete(callId)
  }
  for (const [callId, card] of open) yield { what: { open: card }, inside: inside.get(callId) ?? nothing }
}
