/** Owns the end of a call: what a throw becomes, the finaliser, and the one result that is announced and logged. */
import { lossless, messageOf } from '@sluice/base'
import type { Outcome, ToolResultData } from '@sluice/session'
import { reasonText } from './abort.ts'
import { logCall } from './admit.ts'
import { ask, isPromise } from './asking.ts'
import { fromDenial, plainContent, resultOf, withhold } from './candidate.ts'
import { resultCard } from './cards.ts'
import { contentOf, textContent } from './content.ts'
import { toolsErrors } from './errors.ts'
import type { StageFailure } from './failure.ts'
import { rewrittenLine } from './prompt.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call, SettledCall, ToolResult } from './types.ts'

/** Characters of rewritten arguments that the first line of a result quotes. */
const REWRITTEN_MAX = 500

/** Records on the call what led to the rescue stage. */
export function rescued(state: CallState, stage: string, failure: StageFailure | undefined): void {
  const { executed } = state
  if (failure === undefined || failure.detour === 'aborted') {
    state.outcome = { tag: 'aborted', executed, reason: reasonText(state.start.source.reason).toWellFormed() }
    state.content = plainContent(state, state.outcome)
    return
  }
  const { by, code, message } = failure
  state.detail.by = by
  state.detail.code = code
  state.detail.reason = message.toWellFormed()
  if (stage === 'execute' || stage === 'admit') {
    state.outcome = { tag: 'failed', executed, code, message: state.detail.reason, by }
    state.content = textContent(plainText(state.outcome, by))
  } else if (stage === 'post-execute') withhold(state, code, by, state.detail.reason)
  else {
    state.outcome = { tag: 'denied', executed: 'no', stage, by, reason: state.detail.reason, code }
    state.content = plainContent(state, state.outcome)
  }
}

function plainText(outcome: Extract<Outcome, { tag: 'failed' }>, by: string): string {
  return `${by} failed (${outcome.code}): ${outcome.message}`
}

export function denied(state: CallState): CallOutcome<'denied'> {
  state.release?.()
  fromDenial(state)
  return 'denied'
}

export function normalize(state: CallState): CallOutcome<'normalize'> {
  state.release?.()
  return 'normalized'
}

/** Runs the finaliser of the pinned definition once; what it cannot give is dropped. */
export function finalize(state: CallState): CallOutcome<'finalize'> {
  state.release?.()
  const { entry, call } = state
  if (state.outcome && state.content.length === 0) state.content = plainContent(state, state.outcome)
  if (!entry?.definition.finalizeContent || !call) return 'finalized'
  let problem: string
  try {
    if (entry.gone) throw toolsErrors('TOOLS_DEFINITION_GONE', { tool: entry.info.name, plugin: entry.plugin })
    const answer: unknown = entry.definition.finalizeContent(call, resultOf(state))
    if (!isPromise(answer)) {
      state.content = contentOf(answer)
      return 'finalized'
    }
    answer.then(undefined, () => {})
    problem = 'it returned a promise'
  } catch (error) {
    problem = messageOf(error)
  }
  const error = toolsErrors('TOOLS_FINALIZER_FAILED', { problem })
  withhold(state, error.code, entry.plugin, error.message)
  state.detail.by = entry.plugin
  state.detail.code = error.code
  return 'dropped'
}

/** Announces the result to each listener separately, then appends it. The first settlement stands. */
export function result(state: CallState): CallOutcome<'result'> {
  if (state.outcome && state.content.length === 0) state.content = plainContent(state, state.outcome)
  if (state.rewrittenBy !== undefined) {
    const args = JSON.stringify(state.args).slice(0, REWRITTEN_MAX).toWellFormed()
    state.content = Object.freeze([...textContent(rewrittenLine(state.rewrittenBy, args)), ...state.content])
  }
  state.made = resultOf(state)
  announce(state, state.made)
  return 'recorded'
}

function announce(state: CallState, made: ToolResult): void {
  if (!state.call) return
  const { machine, agent } = state.start
  for (const listener of machine.listeners.of('tools/result', agent)) {
    const failed = (error: unknown) => machine.report(`${listener.plugin} failed in tools/result: ${messageOf(error)}`)
    try {
      const answer = ask(state, 'tools/result', listener, { divert: false }, () =>
        listener.call(state.call as Call, made),
      )
      if (isPromise(answer)) answer.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }
}

/** Appends the result with its whole trace. Called once, after the last step. What the log refuses becomes a failure, which
 *  the log may still take. */
export function record(state: CallState): SettledCall {
  const made = state.made ?? resultOf(state)
  try {
    return append(state, made)
  } catch (error) {
    const { code, message } = toolsErrors('TOOLS_RESULT_NOT_RECORDED', { problem: messageOf(error) })
    state.machine.report(`${state.start.tool} (${state.start.id}): ${message}`)
    withhold(state, code, 'tools', message)
    state.outcome = { tag: 'failed', executed: state.outcome?.executed ?? state.executed, code, message }
  }
  const unrecorded = resultOf(state)
  try {
    return append(state, unrecorded)
  } catch {
    return Object.freeze({ callId: state.start.id, result: unrecorded, data: dataOf(state, unrecorded) })
  }
}

/** A result stands in the log only after its call.
 *  @throws what the log throws */
function append(state: CallState, made: ToolResult): SettledCall {
  const { session, id, parent } = state.start
  logCall(state)
  const data = dataOf(state, made)
  if (parent) {
    const settle = { callId: id, parent: parent.start.id, phase: 'settle' as const, result: data }
    session.append('tool/code-dispatch', settle)
  } else session.append('tool/result', data)
  return Object.freeze({ callId: id, result: made, data })
}

function dataOf(state: CallState, made: ToolResult): Readonly<ToolResultData> {
  const { machine } = state.start
  const definition = state.entry?.gone ? undefined : state.entry?.definition
  return lossless({
    callId: made.callId,
    tool: made.tool.toWellFormed(),
    outcome: made.outcome,
    content: made.content,
    ...(made.value !== undefined && { value: made.value }),
    card: resultCard(definition, state.call?.args, made, made.outcome),
    ...(made.contexts.length > 0 && { contexts: made.contexts }),
    trace: JSON.stringify(state.trace),
    durationMs: rounded(machine.clock.monotonic() - state.startedAt),
    ...(state.queuedMs > 0 && { queuedMs: rounded(state.queuedMs) }),
  }) as unknown as Readonly<ToolResultData>
}

/** Microseconds are as fine as it gets. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
