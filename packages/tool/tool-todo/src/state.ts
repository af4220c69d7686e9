/** Owns the list of a session as a fold of its events. */
import { type Fold, foldSteps } from '@sluice/session'
import type { TodoItem } from './types.ts'

export interface TodoState {
  readonly items: readonly TodoItem[]
  /** Sequence number of the last write. */
  readonly writtenAt: number
  /** True while the result that showed the list is behind a compaction. */
  readonly outOfSight: boolean
}

export const todoFold: Fold<TodoState> = {
  name: 'todo',
  version: 1,
  initial: { items: [], writtenAt: -1, outOfSight: false },
  step: foldSteps<TodoState>({
    'todo/write': (_, event) => ({ items: event.data.items, writtenAt: event.seq, outOfSight: false }),
    'compaction/done': (state, event) => ({
      ...state,
      outOfSight: state.outOfSight || state.writtenAt <= event.data.upTo,
    }),
  }),
}
