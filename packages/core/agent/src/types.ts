/** Owns the words of agents and turns. */
import type {} from 'cordis'
import type { StreamPart } from '@sluice/llm'
import type { ContentPart, Session, TurnEndReason } from '@sluice/session'
import type { Awaitable, ListenersOf } from '@sluice/tools'
import type { agentEvents } from './emitted-events.ts'

export interface AgentOptions {
  readonly session: Session
  /** `provider/model`. */
  readonly model: string
  /** Default: `main`. Unique among live agents. */
  readonly name?: string
  readonly stepsMax?: number
  readonly turnMsMax?: number
  /** Input and output tokens of one turn. */
  readonly tokensMax?: number
}

export interface TurnResult {
  readonly turn: number
  readonly reason: TurnEndReason
  readonly detail?: string
  readonly code?: string
  /** Text of the last assistant message. */
  readonly text: string
  /** Ids of calls that were denied in this turn. */
  readonly denied: readonly string[]
}

export interface SubmittedPrompt {
  readonly agent: string
  readonly session: Session
  readonly content: readonly ContentPart[]
}

/** A turn that would end now. */
export interface StoppingTurn {
  readonly agent: string
  readonly session: Session
  readonly turn: number
  /** How often listeners have made it go on. */
  readonly continued: number
}

export type PromptVerdict =
  | { readonly kind: 'accept'; readonly contexts?: readonly string[] }
  | { readonly kind: 'replace'; readonly content: readonly ContentPart[]; readonly contexts?: readonly string[] }
  | { readonly kind: 'block'; readonly reason: string }

export type StopVerdict = { readonly kind: 'stop' } | { readonly kind: 'continue'; readonly reason: string }

/** One agent has one driver; its methods may be called at any time. */
export interface Agent {
  readonly name: string
  readonly session: Session
  readonly model: string
  readonly busy: boolean
  /** Queues input for the next turn and resolves when that turn has ended. Never rejects for what happens in a turn. */
  send(text: string, source?: string): Promise<TurnResult>
  /** Input for the next step of the running turn; starts a turn when none runs. */
  steer(text: string, source?: string): void
  /** Context that goes out with the next step. */
  inject(text: string, source: string): void
  /** Ends the running turn with a settled log. Resolves when it has ended. */
  abort(reason?: string): Promise<void>
  /** Called with each live piece. */
  onPiece(listener: (piece: StreamPart, step: number) => void): () => void
  close(): Promise<void>
}

/** `ctx.agents`. */
export interface Agents {
  /** An agent that drives `session` until it is closed or the calling plugin is unloaded.
   *  @throws AGENT_NAME_TAKEN, AGENT_SESSION_TAKEN, AGENT_SESSION_READ_ONLY */
  create(options: AgentOptions): Agent
  get(name: string): Agent | undefined
  /** A part of the system prompt, in `order`, for as long as the calling plugin is mounted.
   *  @throws AGENT_SECTION_TAKEN */
  section(
    name: string,
    order: number,
    text: string | ((session: Session, agent: string) => Awaitable<string>),
  ): () => void
}

declare module 'cordis' {
  interface Context {
    agents: Agents
  }
  interface Events extends ListenersOf<typeof agentEvents> {}
}
