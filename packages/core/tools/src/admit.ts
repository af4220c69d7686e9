/** Owns admission: the tool is found and pinned, the arguments are checked, the call is logged. */
import type { JsonObject } from '@sluice/base'
import type { ToolCallData } from '@sluice/session'
import { reasonText } from './abort.ts'
import { admitArguments, type Given, readArguments } from './arguments.ts'
import { disown } from './asking.ts'
import { callCard, genericCallCard } from './cards.ts'
import type { Registered } from './definition.ts'
import { cutOffReason } from './prompt.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call } from './types.ts'
import { viewOf } from './view.ts'

type Admission = CallOutcome<'admit'>

export function admit(state: CallState): Admission | Promise<Admission> {
  const given = readArguments(state.start.given)
  state.argumentsText = given.text
  const outcome = decide(state, given)
  logCall(state)
  const { gate } = state.start
  return gate ? gate.then(() => outcome) : outcome
}

function decide(state: CallState, given: Given): Admission {
  const { machine, tool, agent, source, cutOff, parent } = state.start
  const reach = parent ? 'nested' : 'direct'
  const entry = machine.registry.view(agent, reach).get(tool)
  if (!entry) {
    state.outcome = { tag: 'unknown-tool', executed: 'no', nearest: machine.registry.nearest(tool, agent, reach) }
    return 'unknown-tool'
  }
  state.entry = entry
  if (cutOff !== undefined || source.aborted) {
    const reason = cutOff === undefined ? reasonText(source.reason) : cutOffReason(cutOff)
    state.outcome = { tag: 'aborted', executed: 'no', reason }
    return 'aborted'
  }
  const parsed = admitArguments(given, entry)
  if (!parsed.ok) {
    state.outcome = { tag: 'invalid', executed: 'no', problems: parsed.problems }
    state.quoted = parsed.quoted
    return 'invalid'
  }
  state.call = makeCall(state, entry, parsed.args)
  state.card = state.call.card
  if (parsed.repairs.length > 0) state.repairs = parsed.repairs
  return 'admitted'
}

/** The frozen call for `args`, with what the definition says of them. */
export function makeCall(state: CallState, entry: Registered, args: JsonObject): Call {
  const { id, tool, agent, session, source, parent } = state.start
  const fields = {
    id,
    tool,
    args,
    agent,
    parent: parent?.start.id,
    session,
    specifier: specifierOf(entry, args),
    card: callCard(entry, args),
  }
  const { annotations, aliases, timeoutMs } = entry.info
  return viewOf({ ...fields, annotations, aliases, timeoutMs }, source)
}

/** Without one, only rules for the whole tool can cover the call. */
function specifierOf({ definition, gone }: Registered, args: JsonObject): string | undefined {
  if (gone) return undefined
  try {
    const given: unknown = definition.specifier?.(args)
    if (typeof given === 'string') return given.toWellFormed()
    disown(given)
  } catch {
    // A definition that cannot say it has not said it.
  }
  return undefined
}

/** Appends the call, once. */
export function logCall(state: CallState): void {
  if (state.logged) return
  const { session, id, originalId, tool, batch, index, parent } = state.start
  const { argumentsText } = state
  const data: ToolCallData = {
    callId: id,
    tool,
    argumentsText,
    readOnly: state.entry?.info.annotations.readOnly === true,
    card: state.card ?? genericCallCard(tool, undefined, argumentsText),
    batch,
    index,
    ...(state.call && { arguments: state.call.args }),
    ...(originalId !== undefined && { originalId }),
    ...(state.repairs && { repairs: state.repairs }),
  }
  if (parent) session.append('tool/code-dispatch', { callId: id, parent: parent.start.id, phase: 'start', call: data })
  else session.append('tool/call', data)
  state.logged = true
}
