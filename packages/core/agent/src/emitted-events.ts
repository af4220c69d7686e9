/** Owns the Cordis events of a turn. */
import type { Session } from '@sluice/session'
import { defineEvents, notification, waterfall } from '@sluice/tools'
import type { PromptVerdict, StoppingTurn, StopVerdict, SubmittedPrompt, TurnResult } from './types.ts'

export const agentEvents = defineEvents('agent', {
  'agent/submit-prompt': waterfall<[prompt: SubmittedPrompt], PromptVerdict>(
    'Asked before something a user wrote enters the log; return `next()` to abstain.',
  ),
  'agent/stop-turn': waterfall<[turn: StoppingTurn], StopVerdict>(
    'Asked when the model owes nothing; return `next()` to abstain.',
  ),
  'agent/turn-started': notification<[agent: string, session: Session, turn: number]>('A turn is in the log.'),
  'agent/turn-ended': notification<[agent: string, session: Session, result: TurnResult]>(
    'A turn has ended and its log is settled.',
  ),
  'agent/inbox-changed': notification<[agent: string, waiting: number]>('Input was queued for an agent, or taken.'),
})
