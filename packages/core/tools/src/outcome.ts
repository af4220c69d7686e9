/** Owns a result in the making: outcome, content and value, and what becomes of them when something fails. */
import { type Json, lossless, messageOf } from '@sluice/base'
import type { ContentPart, Outcome } from '@sluice/session'
import type { Attempt } from './attempt.ts'
import { render, textContent } from './content.ts'
import { cannotShow, outcomeText, quotedText, withheldText } from './prompt.ts'
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
  const { given, tool } = state.start
  const quoted = typeof given === 'string' ? quotedText(given) : undefined
  state.outcome = frozen(outcome)
  state.content = textContent(outcomeText(outcome, tool, quoted, state.denial?.remedy))
}

/** Lossless JSON, once: every look at the result hands out the same. */
export function frozen(outcome: Outcome): Outcome {
  return lossless(outcome) as unknown as Outcome
}

const succeeded = frozen({ tag: 'succeeded', executed: 'yes' })

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
    const isPlain = executed === 'yes' && !attempt.late
    state.outcome = isPlain ? succeeded : frozen({ tag: 'succeeded', executed, ...(attempt.late && { late: true }) })
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
  if (!outcome || outcome.tag === 'succeeded') state.outcome = frozen({ tag: 'failed', executed, code, message, by })
  state.content = textContent(withheldText(code, by, executed))
}

/** The result as plugins see it now. Frozen, and lossless JSON. */
export function resultOf(state: DecidedCall): ToolResult {
  const { start, seen, outcome, content, value, contexts, endTurn } = state
  // Whatever changes a result leaves new content or new contexts.
  if (seen?.content === content && seen.contexts === contexts) return seen
  const { id: callId, tool } = start
  const given = value === undefined ? undefined : { value }
  return (state.seen = Object.freeze({ callId, tool, outcome, content, ...given, contexts, endTurn }))
}
