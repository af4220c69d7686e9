/** Owns how a turn ends: its reasons, and what an error or an abort makes of it. */
import { isSluiceError, messageOf } from '@sluice/base'
import type { TurnEndReason } from '@sluice/session'
import { agentErrors } from './errors.ts'

export interface Ending {
  readonly reason: TurnEndReason
  readonly detail?: string
  readonly code?: string
}

/** Why a turn is cut short; the reason of its abort signal. */
export class TurnAbort extends Error {
  override readonly name = 'TurnAbort'
  readonly reason: 'aborted' | 'budget'
  constructor(reason: 'aborted' | 'budget', message: string) {
    super(message)
    this.reason = reason
  }
}

export function endingBy(error: unknown): Ending {
  if (error instanceof TurnAbort) return { reason: error.reason, detail: error.message }
  if (isSluiceError(error)) return { reason: 'error', code: error.code, detail: error.message }
  const { code, message } = agentErrors('AGENT_TURN_FAILED', { problem: messageOf(error) })
  return { reason: 'error', code, detail: message }
}
