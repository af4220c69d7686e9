/** Owns how it is told that a change was taken back: no call of the model tells of it. */
import type {} from '@sluice/fs'
import type { SessionEventMap } from '@sluice/session'
import { printableLine } from './printable.ts'

/** `undefined` for a change that a call has made: its result tells of that. */
export function undoneText({ path, after, undoes }: Readonly<SessionEventMap['fs/changed']>): string | undefined {
  if (undoes === undefined) return undefined
  return `↶ took back call ${printableLine(undoes, 100)}: ${after ? 'restored' : 'removed'} ${printableLine(path, 300)}`
}
