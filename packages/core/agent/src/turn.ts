/** Owns one turn, from the prompt that starts it to its settled end. */
import { AbortSource } from '@sluice/listeners'
import type { Fold, KnownEvent, Session } from '@sluice/session'
import { admit, textContent } from './admit.ts'
import { type Driver, notify, type Turn } from './driver.ts'
import { type Ending, endingBy, TurnAbort } from './ending.ts'
import type { Prompt } from './inbox.ts'
import { readInstructions } from './instructions.ts'
import { playStep } from './step.ts'
import type { TurnResult } from './types.ts'
import { askStop } from './verdicts.ts'

export const turnsBefore: Fold<number> = {
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
  // While it lasts the timer of all limits stays set: once a turn, not once a step.
  const limit = driver.askLimits.watchdog.limit(limits.turnMsMax, () => {
    abort.abort(new TurnAbort('budget', `the turn took longer than ${limits.turnMsMax} ms`))
  })
  // Requests and batches of the turn share one subscription to its signal.
  const shared = new AbortSource(abort.signal)
  let turn: Turn | undefined
  let ending: Ending
  try {
    session.append('turn/started', { turn: number })
    notify(driver, 'agent/turn-started', driver.name, session, number)
    const instructions = await readInstructions(world.disk, session.cwd)
    const signal = abort.signal
    turn = { ...driver, turn: number, signal, instructions, text: '', tokens: 0, cutOffs: 0, denied: [] }
    ending = await playTurn(turn, prompt)
  } catch (error) {
    ending = endingBy(error)
    if (ending.code === 'AGENT_TURN_FAILED') ctx.logger.error(error)
  } finally {
    limit.end()
    shared.close()
  }
  ending = await settle(session, number, ending)
  const result = Object.freeze({ turn: number, ...ending, text: turn?.text ?? '', denied: turn?.denied ?? [] })
  notify(driver, 'agent/turn-ended', driver.name, session, result)
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

async function reasonToGoOn(turn: Turn, continued: number): Promise<string | undefined> {
  if (continued >= turn.limits.stopContinuesMax) return undefined
  const { name: agent, session } = turn
  const verdict = await askStop(turn, { agent, session, turn: turn.turn, continued })
  return verdict.kind === 'continue' ? verdict.reason : undefined
}

function overBudget({ limits, tokens }: Turn, step: number): Ending | undefined {
  if (step > limits.stepsMax) return { reason: 'budget', detail: `the turn took its ${limits.stepsMax} steps` }
  if (tokens >= limits.tokensMax) return { reason: 'budget', detail: `the turn used ${tokens} tokens` }
  return undefined
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
