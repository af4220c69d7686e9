/** Owns the end of a call: what a failure becomes, the finaliser, and the one result that is announced and logged. */
import { disown, lossless, messageOf } from '@sluice/base'
import { type PluginFailure, tell } from '@sluice/listeners'
import type { ToolResultData } from '@sluice/session'
import { logCall } from './admit.ts'
import { strangerOf } from './call.ts'
import { resultCard } from './cards.ts'
import { contentOf, textContent } from './content.ts'
import { toolsErrors } from './errors.ts'
import { frozen, resultOf, setOutcome, type ToolResult, withhold } from './outcome.ts'
import { abortReason, brokenText, rewrittenLine } from './prompt.ts'
import { type CallState, type DecidedCall, type DeniedCall, rounded } from './state.ts'
import { type CallOutcome, type CallStage, failsAs } from './table.ts'
import type { SettledCall } from './types.ts'

/** Makes the failure that leads to the rescue stage what the row of its stage says. */
export function rescue(state: CallState, stage: CallStage, { how, by, code, message: reason }: PluginFailure): void {
  const { executed, start } = state
  if (how === 'aborted')
    return setOutcome(state, { tag: 'aborted', executed, reason: abortReason(start.source.reason) })
  Object.assign(state.detail, { by, code, reason })
  switch (failsAs(stage)) {
    case 'denied':
      return setOutcome(state, { tag: 'denied', executed: 'no', stage, by, reason, code })
    case 'withheld':
      return withhold(state, code, by, reason)
    case 'failed':
      setOutcome(state, { tag: 'failed', executed, code, message: reason, by })
      state.content = textContent(brokenText(by, code, reason))
  }
}

/** Names the stage that denied: the one before. */
export function denied(state: DeniedCall): CallOutcome<'denied'> {
  const { by, reason, code, rule } = state.denial
  const stage = state.trace.at(-1)?.stage ?? ''
  const more = { ...(code !== undefined && { code }), ...(rule !== undefined && { rule }) }
  setOutcome(state, { tag: 'denied', executed: 'no', stage, by, reason, ...more })
  return 'denied'
}

/** Runs the finaliser of the pinned definition once; what it cannot give is dropped. */
export function finalize(state: DecidedCall): CallOutcome<'finalize'> {
  const { entry, call } = state
  if (!entry?.definition.finalizeContent || !call) return 'finalized'
  const { plugin, gone, info } = entry
  try {
    if (gone) throw toolsErrors('TOOLS_DEFINITION_GONE', { tool: info.name, plugin })
    const answer: unknown = entry.definition.finalizeContent(call, resultOf(state))
    disown(answer)
    state.content = contentOf(answer)
    return 'finalized'
  } catch (problem) {
    const { code, message } = toolsErrors('TOOLS_FINALIZER_FAILED', { problem: messageOf(problem) })
    withhold(state, code, plugin, message)
    Object.assign(state.detail, { by: plugin, code })
    return 'dropped'
  }
}

/** Announces the result to each listener separately. It is appended with the step that records this. */
export function result(state: DecidedCall): CallOutcome<'result'> {
  const { machine, rewrittenBy, call } = state
  if (rewrittenBy !== undefined) {
    const line = rewrittenLine(rewrittenBy, JSON.stringify(call?.args))
    state.content = Object.freeze([...textContent(line), ...state.content])
  }
  state.made = resultOf(state)
  const facts = [call ?? strangerOf(state), state.made]
  tell(state.listenersOf('tools/result'), machine.limits, facts, machine.report)
  return 'recorded'
}

/** Appends the result with its whole trace. Called once, after the last step. What the log refuses becomes a failure, which
 *  the log may still take. */
export function record(state: DecidedCall): SettledCall {
  const { id, tool, machine } = state.start
  try {
    return append(state, state.made ?? resultOf(state))
  } catch (error) {
    const { code, message } = toolsErrors('TOOLS_RESULT_NOT_RECORDED', { problem: messageOf(error) })
    machine.report(`${tool} (${id}): ${message}`)
    withhold(state, code, 'tools', message)
    state.outcome = frozen({ tag: 'failed', executed: state.outcome.executed, code, message })
  }
  const unrecorded = resultOf(state)
  try {
    return append(state, unrecorded)
  } catch {
    return Object.freeze({ callId: id, result: unrecorded, data: dataOf(state, unrecorded) })
  }
}

/** A result stands in the log only after its call.
 *  @throws what the log throws */
function append(state: CallState, made: ToolResult): SettledCall {
  const { session, id: callId, parent } = state.start
  logCall(state)
  const data = dataOf(state, made)
  if (parent) session.append('tool/code-dispatch', { callId, parent: parent.start.id, phase: 'settle', result: data })
  else session.append('tool/result', data)
  return Object.freeze({ callId, result: made, data })
}

function dataOf(state: CallState, made: ToolResult): Readonly<ToolResultData> {
  const { entry, call, trace, startedAt, queuedMs, machine } = state
  return lossless({
    callId: made.callId,
    tool: made.tool,
    outcome: made.outcome,
    content: made.content,
    ...(made.value !== undefined && { value: made.value }),
    card: resultCard(entry, call, made),
    ...(made.contexts.length > 0 && { contexts: made.contexts }),
    trace: JSON.stringify(trace),
    durationMs: rounded(machine.clock.monotonic() - startedAt),
    ...(queuedMs > 0 && { queuedMs: rounded(queuedMs) }),
  }) as unknown as Readonly<ToolResultData>
}
