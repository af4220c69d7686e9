/** Owns what a checkpoint of a session holds: its start, its history, the states of registered folds. */
import type { Json } from '@sluice/base'
import { isSluiceError, lossless } from '@sluice/base'
import type { Fold, Message } from './types.ts'

const VERSION = 2

export interface HistoryState {
  readonly messages: readonly Message[]
  readonly ends: readonly number[]
  /** Places of results that the log did not hold in time, by call id. */
  readonly missing: readonly (readonly [callId: string, at: number])[]
}

export interface SessionState {
  readonly cwd: string
  /** Event types that a reader of the log has to know. */
  readonly types: string
  readonly history: HistoryState
  readonly folds: readonly { readonly name: string; readonly version: number; readonly state: Json }[]
}

/** JSON for a checkpoint; `undefined` when a state cannot be kept as JSON. */
export function encodeState(state: SessionState): Json | undefined {
  try {
    return lossless({ version: VERSION, ...state })
  } catch (error) {
    if (isSluiceError(error, 'JSON_NOT_LOSSLESS')) return undefined
    throw error
  }
}

/** The state of a checkpoint; `undefined` when it was made by another version, where other types had to be known, or lacks
 *  one of `folds`. */
export function decodeState(json: Json, types: string, folds: Iterable<Fold<unknown>>): SessionState | undefined {
  const { version, ...state } = json as unknown as SessionState & { version: number }
  if (version !== VERSION || state.types !== types) return undefined
  const kept = new Map(state.folds.map((fold) => [fold.name, fold.version]))
  for (const fold of folds) if (kept.get(fold.name) !== fold.version) return undefined
  return state
}
