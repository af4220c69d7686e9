/** Owns which changes can be taken back: a fold of `fs/changed` that keeps those of the last calls. */
import { type Fold, foldSteps } from '@sluice/session'
import type { ChangedData } from './types.ts'

/** Calls whose changes are kept; older ones can no longer be taken back. */
export const UNDO_CALLS_MAX = 200
/** Changes of one call; one that made more cannot be taken back, because a part of them is none. */
export const UNDO_CHANGES_MAX = 1_000

interface CallChanges {
  readonly callId: string
  /** In order; `null` when there were too many. */
  readonly changes: readonly ChangedData[] | null
}

export const recentChanges: Fold<readonly CallChanges[]> = {
  name: 'fs/recent-changes',
  version: 1,
  initial: [],
  step: foldSteps<readonly CallChanges[]>({
    'fs/changed': (state, { data }) => {
      const { callId } = data
      const known = state.find((call) => call.callId === callId)
      if (known?.changes === null) return state
      const changes = [...(known?.changes ?? []), data]
      const next: CallChanges = { callId, changes: changes.length > UNDO_CHANGES_MAX ? null : changes }
      return [...state.filter((call) => call !== known), next].slice(-UNDO_CALLS_MAX)
    },
  }),
}
