/** Owns one turn, from the prompt that starts it to its settled end. */
import { isSluiceError, messageOf, type World } from '@sluice/base'
import type { Llm, StreamPart } from '@sluice/llm'
import type { ContentPart, Fold, KnownEvent, Session, TurnEndReason } from '@sluice/session'
import type { Tools } from '@sluice/tools'
import type { Context } from 'cordis'
import type { CallIds } from './callids.ts'
import { agentErrors } from './errors.ts'
import type { Inbox, Prompt } from './inbox.ts'
import { readInstructions } from './instructions.ts'
import { notify } from './listeners.ts'
import type { RequestParts } from './request.ts'
import type { Sections } from './sections.ts'
import { playStep } from './step.ts'
import type { TurnResult } from './types.ts'
import { type Asking, askPrompt, askStop } from './verdicts.ts'

export interface Limits {
  readonly stepsMax: number
  readonly turnMsMax: number
  /** Input and output tokens of all requests of one turn. */
  readonly tokensMax: number
  readonly stopContinuesMax: number
  /** Consecutive messages with calls that were cut off at the output limit. */
  readonly cutOffsMax: number
  readonly verdictMsMax: number
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
  readonly inbox: Inbox
  readonly ids: CallIds
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

export interface Ending {
  readonly reason: TurnEndReason
  readonly detail?: string
  readonly code?: string
}

/** Why a turn is cut short; the reason of its abort signal. */
export class TurnAbort extends Error {
  override readonly name = 'AbortError'
  readonly reason: 'aborted' | 'budget'
  constructor(reason: 'aborted' | 'budget', message: string) {
    super(message)
    this.reason = reason
  }
}

const turnsBefore: Fold<number> = {
  name: 'agent/turn',
  version: 1,
  initial: 0,
  step(state, event) {
    const known = event as KnownEvent
    return known.type === 'turn/started' ? known.data.turn : state
  },
}

/** Plays one turn. Never rejects: whatever happens becomes the reason of its end. */
export async function runTurn(driver: Driver, prompt: Prompt, abort: AbortController): Promise<TurnResult> {
  const { session, world, limits, ctx } = driver
  const number = session.fold(turnsBefore) + 1
  const cancel = world.clock.timer(limits.turnMsMax, () => {
    abort.abort(new TurnAbort('budget', `the turn took longer than ${limits.turnMsMax} ms`))
  })
  let turn: Turn | undefined
  let ending: Ending
  try {
    session.append('turn/started', { turn: number })
    notify(ctx, 'agent/turn-started', driver.name, session, number)
    const instructions = await readInstructions(world.disk, session.cwd)
    const signal = abort.signal
    turn = { ...driver, turn: number, signal, instructions, text: '', tokens: 0, cutOffs: 0, denied: [] }
    ending = await playTurn(turn, prompt)
  } catch (error) {
    ending = endingBy(error)
    if (ending.code === 'AGENT_TURN_FAILED') ctx.logger.error(error)
  } finally {
    cancel()
  }
  ending = await settle(session, number, ending)
  const result = Object.freeze({ turn: number, ...ending, text: turn?.text ?? '', denied: turn?.denied ?? [] })
  notify(ctx, 'agent/turn-ended', driver.name, session, result)
  return result
}

async function playTurn(turn: Turn, prompt: Prompt): Promise<Ending> {
  const blocked = await admit(turn, prompt.text, prompt.source)
  if (blocked !== undefined) return { reason: 'blocked', detail: blocked }
  let continued = 0
  for (let step = 1; ; step++) {
    const over = overBudget(turn, step)
    if (over) return over
    const outcome = await playStep(turn, step)
    if (outcome !== 'owed' && outcome !== 'idle') return outcome
    if (outcome === 'owed' || turn.inbox.steering.size > 0) continue
    const reason = await reasonToGoOn(turn, continued)
    if (reason === undefined && turn.inbox.steering.size === 0) return { reason: 'completed' }
    if (reason === undefined) continue
    continued++
    turn.session.append('user/message', { content: textContent(reason), source: 'stop-turn' })
  }
}

/** Asks the plugins about a prompt and appends what they leave of it; the reason when they block it. */
export async function admit(turn: Turn, text: string, source: string): Promise<string | undefined> {
  const content = textContent(text)
  const { session } = turn
  const verdict = await askPrompt(asking(turn), { agent: turn.name, session, content })
  if (verdict.kind === 'block') return verdict.reason
  session.append('user/message', { content: verdict.kind === 'replace' ? verdict.content : content, source })
  for (const context of verdict.contexts ?? []) {
    session.append('user/message', { content: textContent(context), source: 'submit-prompt' })
  }
  return undefined
}

async function reasonToGoOn(turn: Turn, continued: number): Promise<string | undefined> {
  if (continued >= turn.limits.stopContinuesMax) return undefined
  const { name: agent, session } = turn
  const verdict = await askStop(asking(turn), { agent, session, turn: turn.turn, continued })
  return verdict.kind === 'continue' ? verdict.reason : undefined
}

function overBudget({ limits, tokens, signal }: Turn, step: number): Ending | undefined {
  if (signal.aborted) return endingBy(signal.reason)
  if (step > limits.stepsMax) return { reason: 'budget', detail: `the turn took its ${limits.stepsMax} steps` }
  if (tokens >= limits.tokensMax) return { reason: 'budget', detail: `the turn used ${tokens} tokens` }
  return undefined
}

export function endingBy(error: unknown): Ending {
  if (error instanceof TurnAbort) return { reason: error.reason, detail: error.message }
  if (isSluiceError(error)) return { reason: 'error', code: error.code, detail: error.message }
  const { code, message } = agentErrors('AGENT_TURN_FAILED', { problem: messageOf(error) })
  return { reason: 'error', code, detail: message }
}

/** Appends `turn/ended` and waits until it is on disk; a log that cannot be written makes the turn end in that error. */
async function settle(session: Session, turn: number, ending: Ending): Promise<Ending> {
  try {
    session.append('turn/ended', { turn, ...ending })
    await session.durable()
    return ending
  } catch (error) {
    return ending.reason === 'error' ? ending : endingBy(error)
  }
}

export function textContent(text: string): readonly ContentPart[] {
  return [{ type: 'text', text }]
}

function asking({ ctx, world, signal, limits }: Turn): Asking {
  return { ctx, clock: world.clock, signal, verdictMsMax: limits.verdictMsMax }
}
