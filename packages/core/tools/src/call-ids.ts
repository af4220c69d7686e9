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
  version: 1,
  initial: { ids: {}, batches: 1 },
  step(state, event: SessionEvent) {
    if (event.type !== 'tool/call') return state
    const { callId, batch } = event.data as unknown as ToolCallData
    const ids: Record<string, true> = state.batches === 1 && Object.keys(state.ids).length === 0 ? {} : state.ids
    Object.defineProperty(ids, callId, { value: true, enumerable: true, configurable: true, writable: true })
    return { ids, batches: Math.max(state.batches, batch + 1) }
  },
}
