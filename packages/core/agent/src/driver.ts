/** Owns the words inside this package: what the turns of one agent share, and the state of one turn. */
import type { World } from '@sluice/base'
import { type Listeners, tell, type TimeLimits } from '@sluice/listeners'
import type { Llm, StreamPart } from '@sluice/llm'
import type { Session } from '@sluice/session'
import type { EventOf, Tools } from '@sluice/tools'
import type { Context } from 'cordis'
import type { agentEvents } from './emitted-events.ts'
import type { Inbox } from './inbox.ts'
import type { RequestParts } from './request.ts'
import type { Sections } from './sections.ts'

export interface Limits {
  readonly stepsMax: number
  readonly turnMsMax: number
  /** Input and output tokens of all requests of one turn. */
  readonly tokensMax: number
  readonly stopContinuesMax: number
  /** Consecutive messages with calls that were cut off at the output limit. */
  readonly cutOffsMax: number
}

/** What every turn of one agent shares. */
export interface Driver {
  readonly ctx: Context
  readonly name: string
  readonly model: string
  readonly session: Session
  readonly llm: Llm
  readonly tools: Tools
  readonly world: World
  readonly sections: Sections
  readonly limits: Limits
  readonly listeners: Listeners
  readonly askLimits: TimeLimits
  readonly inbox: Inbox
  readonly request: RequestParts
  piece(piece: StreamPart, step: number): void
}

/** The state of one turn. */
export interface Turn extends Driver {
  readonly turn: number
  readonly signal: AbortSignal
  readonly instructions: string
  text: string
  tokens: number
  cutOffs: number
  readonly denied: string[]
}

/** Tells the listeners of `event`; what they throw is logged. */
export function notify(
  { ctx, name, listeners, askLimits }: Driver,
  event: EventOf<typeof agentEvents, 'notification'>,
  ...facts: unknown[]
): void {
  tell(listeners.of(event, name), askLimits, facts, (problem) => ctx.logger.warn('%s', problem))
}
