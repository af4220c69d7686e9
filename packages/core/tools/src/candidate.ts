/** Owns what an attempt or a denial becomes before plugins may change it: outcome, content and value. */
import { lossless, messageOf } from '@sluice/base'
import type { Outcome } from '@sluice/session'
import { textContent, render } from './content.ts'
import type { Registered } from './definition.ts'
import {
  abortedText,
  deniedText,
  failedText,
  invalidText,
  timedOutText,
  unknownToolText,
  withheldText,
} from './prompt.ts'
import type { CallState } from './state.ts'
import type { Attempt, ToolResult } from './types.ts'

/** The content that an outcome has by itself. */
export function plainContent(state: CallState, outcome: Outcome): ReturnType<typeof textContent> {
  const { tool } = state.start
  switch (outcome.tag) {
    case 'succeeded':
      return textContent('')
    case 'failed':
      return textContent(failedText(outcome.message, outcome.executed))
    case 'denied':
      return textContent(deniedText(outcome.reason, outcome.by, state.denial?.remedy))
    case 'aborted':
      return textContent(abortedText(outcome.reason, outcome.executed))
    case 'timed-out':
      return textContent(timedOutText(outcome.reason, outcome.executed))
    case 'invalid':
      return textContent(invalidText(tool, outcome.problems, state.quoted, outcome.by))
    case 'unknown-tool':
      return textContent(unknownToolText(tool, outcome.nearest))
    case 'interrupted':
      return textContent(abortedText('interrupted', outcome.executed))
  }
}

/** Sets outcome, content and value from the attempt of the body. */
export function fromAttempt(state: CallState): void {
  const { attempt } = state
  if (!attempt) return
  const outcome = outcomeOf(state, attempt)
  state.outcome = outcome
  if (outcome.tag !== 'succeeded') state.content = plainContent(state, outcome)
}

function outcomeOf(state: CallState, attempt: Attempt): Outcome {
  const { executed } = state
  if (attempt.status === 'failed') return { tag: 'failed', executed, code: attempt.code, message: attempt.message }
  if (attempt.status !== 'succeeded') return { tag: attempt.status, executed, reason: attempt.reason }
  try {
    state.content = render(state.entry as Registered, attempt.value ?? undefined, state.args)
    state.value = attempt.value
    return { tag: 'succeeded', executed, ...(attempt.late && { late: true }) }
  } catch (error) {
    const message = `its result cannot be shown: ${messageOf(error)}`
    return { tag: 'failed', executed, code: 'TOOLS_BODY_FAILED', message }
  }
}

/** Sets outcome and content from the denial, naming the stage that denied: the one before. */
export function fromDenial(state: CallState): void {
  const { by, reason, code, rule } = state.denial ?? { by: 'unknown', reason: 'denied' }
  const stage = state.trace.at(-1)?.stage ?? 'pre-execute'
  const outcome: Outcome = {
    tag: 'denied',
    executed: 'no',
    stage,
    by,
    reason,
    ...(code !== undefined && { code }),
    ...(rule !== undefined && { rule }),
  }
  state.outcome = outcome
  state.content = plainContent(state, outcome)
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
export function resultOf(state: CallState): ToolResult {
  const outcome = lossless(state.outcome) as unknown as Outcome
  state.outcome = outcome
  return Object.freeze({
    callId: state.start.id,
    tool: state.start.tool,
    outcome,
    content: state.content,
    ...(state.value !== undefined && { value: state.value }),
    contexts: Object.freeze([...state.contexts]),
    endTurn: state.endTurn,
  })
}
