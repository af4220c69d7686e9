/** Owns the exit codes of the command. */
import type { TurnResult } from '@sluice/agent'

export const EXIT = { done: 0, failed: 1, usage: 2, denied: 3, interrupted: 130 } as const

/** What a turn means for whoever called the command. */
export function exitCodeOf({ reason, denied }: TurnResult): number {
  if (reason === 'aborted' || reason === 'interrupted') return EXIT.interrupted
  if (reason !== 'completed') return EXIT.failed
  return denied.length > 0 ? EXIT.denied : EXIT.done
}
