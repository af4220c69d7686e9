/** Owns folds: states computed from a log, one step per event type. */
import type { Json } from '@sluice/base'
import type { SessionEvent } from './envelope.ts'
import type { SessionEventType } from './event-map.ts'

/** A fold: state computed from events in order. `step` is pure and returns the next state. A state that is no lossless
 *  JSON says how it becomes that in a checkpoint, and what it is made of again. */
export interface Fold<S> {
  readonly name: string
  readonly version: number
  readonly initial: S
  step(state: S, event: SessionEvent): S
  save?(state: S): Json
  load?(saved: Json): S
}

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
