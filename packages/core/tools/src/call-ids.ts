/** Owns which call ids and batch numbers a session has used. */
import type { Fold, SessionEvent, ToolCallData } from '@sluice/session'

export interface UsedCallIds {
  readonly ids: Readonly<Record<string, true>>
  /** Number that the next batch gets. */
  readonly batches: number
}

/** The state grows in place: it is only ever read through `session.fold`. */
export const usedCallIds: Fold<UsedCallIds> = {
  name: 'tools/call-ids',
  version: 3,
  initial: { ids: {}, batches: 1 },
  step(state, event: SessionEvent) {
    if (event.type === 'tool/call') {
      const { callId, batch } = event.data as unknown as ToolCallData
      return { ids: withId(state, callId), batches: Math.max(state.batches, batch + 1) }
    }
    // A call whose host died before it was taken up has a result alone.
    if (event.type !== 'tool/code-dispatch' && event.type !== 'tool/result') return state
    const { callId } = (event as SessionEvent<'tool/code-dispatch' | 'tool/result'>).data
    if (Object.hasOwn(state.ids, callId)) return state
    return { ids: withId(state, callId), batches: state.batches }
  },
}

function withId({ ids }: UsedCallIds, callId: string): UsedCallIds['ids'] {
  // One that a checkpoint gave back is frozen, and the initial one is everybody's.
  const shared = ids === usedCallIds.initial.ids || Object.isFrozen(ids)
  const grown: Record<string, true> = shared ? { ...ids } : ids
  Object.defineProperty(grown, callId, { value: true, enumerable: true, configurable: true, writable: true })
  return grown
}
