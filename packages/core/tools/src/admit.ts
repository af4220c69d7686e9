/** Owns the admit stage: the tool is found and pinned, the arguments are checked, the call is logged. */
import type { ToolCallData } from '@sluice/session'
import { admitArguments, readArguments } from './arguments.ts'
import { callOf } from './call.ts'
import { genericCallCard } from './cards.ts'
import { setOutcome } from './outcome.ts'
import { abortReason, cutOffReason } from './prompt.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'

type Admission = CallOutcome<'admit'>

export function admit(state: CallState): Admission | Promise<Admission> {
  state.given = readArguments(state.start.given)
  const outcome = decide(state)
  logCall(state)
  const { gate } = state.start
  return gate ? gate.then(() => outcome) : outcome
}

function decide(state: CallState): Admission {
  const { machine, tool, agent, source, cutOff, parent } = state.start
  const reach = parent ? 'nested' : 'direct'
  const entry = machine.registry.view(agent, reach).get(tool)
  if (!entry) {
    const nearest = machine.registry.nearest(tool, agent, reach)
    setOutcome(state, { tag: 'unknown-tool', executed: 'no', nearest })
    return 'unknown-tool'
  }
  state.entry = entry
  if (cutOff !== undefined || source.aborted) {
    const reason = cutOff === undefined ? abortReason(source.reason) : cutOffReason(cutOff)
    setOutcome(state, { tag: 'aborted', executed: 'no', reason })
    return 'aborted'
  }
  const parsed = admitArguments(state.given, entry)
  if ('problems' in parsed) {
    setOutcome(state, { tag: 'invalid', executed: 'no', problems: parsed.problems })
    return 'invalid'
  }
  state.call = callOf(state, entry, parsed.args)
  state.repairs = parsed.repairs
  return 'admitted'
}

/** Appends the call, once. */
export function logCall(state: CallState): void {
  if (state.logged) return
  const { session, id, originalId, tool, batch, index, parent } = state.start
  const { call, entry, repairs } = state
  const { text: argumentsText } = state.given
  const data: ToolCallData = {
    callId: id,
    tool,
    argumentsText,
    readOnly: entry?.info.annotations.readOnly === true,
    card: call?.card ?? genericCallCard(tool, undefined, argumentsText),
    batch,
    index,
    ...(call && { arguments: call.args }),
    ...(originalId !== undefined && { originalId }),
    ...(repairs.length > 0 && { repairs }),
  }
  if (parent) session.append('tool/code-dispatch', { callId: id, parent: parent.start.id, phase: 'start', call: data })
  else session.append('tool/call', data)
  state.logged = true
}
