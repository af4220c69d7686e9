/** Owns the order in which a recorded session is told: what is inside a call comes after it, calls without a result last. */
import type { Card, KnownEvent, SessionEvent, ToolResultData } from '@sluice/session'
import { CallTree } from './call-tree.ts'

/** A settled call that another call made. */
export interface NestedResult {
  readonly result: Readonly<ToolResultData>
  readonly depth: number
}

/** As much of an event as is told. */
export type ToldEvent = Pick<SessionEvent, 'type'> & { readonly data: unknown }

export interface Told {
  /** An event, or the card of a call that has no result: its writer is still at it, or has died in it. */
  readonly what: ToldEvent | { readonly open: Card }
  readonly inside: readonly NestedResult[]
}

const nothing: readonly NestedResult[] = []

export function* toldInOrder(events: Iterable<SessionEvent>): Generator<Told> {
  const tree = new CallTree()
  const inside = new Map<string, NestedResult[]>()
  const open = new Map<string, Card>()
  const nested = new Map<string, Card>()
  for (const event of events) {
    const { type, data } = event as KnownEvent
    if (type === 'tool/call') open.set(data.callId, data.card)
    if (type === 'tool/code-dispatch') {
      const { root, depth } = tree.placeOf(data)
      if (data.call) nested.set(data.callId, data.call.card)
      if (data.result) {
        const result = named(data.result, nested.get(data.callId))
        inside.set(root, [...(inside.get(root) ?? []), { result, depth }])
        nested.delete(data.callId)
      }
    }
    if (type !== 'tool/result') {
      yield { what: event, inside: nothing }
      continue
    }
    const { callId } = data
    yield { what: { type, data: named(data, open.get(callId)) }, inside: inside.get(callId) ?? nothing }
    tree.end(callId)
    inside.delete(callId)
    open.delete(callId)
  }
  for (const [callId, card] of open) yield { what: { open: card }, inside: inside.get(callId) ?? nothing }
}

/** The result with the card of its call where no tool has made one: that says what was to be done. */
function named(result: Readonly<ToolResultData>, call: Card | undefined): Readonly<ToolResultData> {
  const isOwn = result.card.title !== `${result.tool}: ${result.outcome.tag}`
  return isOwn || result.outcome.tag === 'succeeded' || !call ? result : { ...result, card: call }
}
