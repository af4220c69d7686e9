/** Owns how a fold picks the events it cares about. */
import type { SessionEvent, SessionEventType } from './types.ts'

export type FoldSteps<S> = { readonly [T in SessionEventType]?: (state: S, event: SessionEvent<T>) => S }

/** The `step` of a fold from one function per event type; other events change nothing. */
export function foldSteps<S>(steps: FoldSteps<S>): (state: S, event: SessionEvent) => S {
  // A Map, because types come from the log: `constructor` is no key of it.
  const byType = new Map(Object.entries(steps) as [string, (state: S, event: SessionEvent) => S][])
  return (state, event) => {
    const step = byType.get(event.type)
    return step ? step(state, event) : state
  }
}
