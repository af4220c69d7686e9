/** Owns every string of a session that a model reads. */
import type { Executed } from './types.ts'

/** The result of a call that the last process left without one. */
export function interruptedText(executed: Executed): string {
  return executed === 'no'
    ? 'This call was interrupted before it ran: nothing was done. Call it again if it is still needed.'
    : 'This call was interrupted, and it is not known how far it came. Look at the current state before repeating it.'
}

/** Stands where a result should be when the log holds none. */
export const noResultText = 'No result of this call was recorded. Look at the current state before repeating it.'

/** The message that replaces what was compacted. */
export function summaryText(summary: string): string {
  return `The conversation so far, summarised:\n\n${summary}`
}
