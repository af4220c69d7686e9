/** Owns a result in the making: outcome, content and value, and what becomes of them when something fails. */
import { type Json, lossless, messageOf } from '@sluice/base'
import type { ContentPart, Outcome } from '@sluice/session'
import type { Attempt } from './attempt.ts'
import { render, textContent } from './content.ts'
import { cannotShow, outcomeText, withheldText } from './prompt.ts'
import type { AdmittedCall, CallState, DecidedCall } from './state.ts'

/** The result as post-execute listeners, presenters and observers see it. Frozen. */
export interface ToolResult {
  readonly callId: string
  readonly tool: string
  readonly outcome: Outcome
  readonly content: readonly ContentPart[]
  readonly value?: Json
  readonly contexts: readonly string[]
  readonly endTurn: boolean
}

/** Gives the call an outcome, with the content that such an outcome has by itself. */
export function setOutcome(state: CallState, outcome: Outcome): void {
  state.outcome = outcome
  state.content = textContent(outcomeText(outcome, state.start.tool, state.given.quoted, state.denial?.remedy))
}

/** Makes what the tries came to the outcome of the call. */
export function conclude(state: AdmittedCall, attempt: Attempt): void {
  const { executed } = state
  if (attempt.status === 'failed')
    return setOutcome(state, { tag: 'failed', executed, code: attempt.code, message: attempt.message })
  if (attempt.status !== 'succeeded')
    return setOutcome(state, { tag: attempt.status, executed, reason: attempt.reason })
  try {
    state.content = render(state.entry, attempt.value, state.call.args)
    state.value = attempt.value
    state.outcome = { tag: 'succeeded', executed, ...(attempt.late && { late: true }) }
  } catch (error) {
    const message = cannotShow(messageOf(error))
    setOutcome(state, { tag: 'failed', executed, code: 'TOOLS_BODY_FAILED', message })
  }
}

/** Drops content and value; `succeeded` becomes `failed`, other tags and `executed` stay. */
export function withhold(state: CallState, code: string, by: string, message: string): void {
  const { outcome } = state
  const executed = outcome?.executed ?? state.executed
  state.value = undefined
  if (!outcome || outcome.tag === 'succeeded') state.outcome = { tag: 'failed', executed, code, message, by }
  state.content = textContent(withheldText(code, by, executed))
}

/** The result as plugins see it now. Frozen, and lossless JSON. */
export function resultOf(state: DecidedCall): ToolResult {
  return Object.freeze({
    callId: state.start.id,
    tool: state.start.tool,
    outcome: lossless(state.outcome) as unknown as Outcome,
    content: state.content,
    ...(state.value !== undefined && { value: state.value }),
    contexts: Object.freeze([...state.contexts]),
    endTurn: state.endTurn,
  })
}
