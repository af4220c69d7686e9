/** Owns rewriting: listeners change the arguments one after another, each change checked and logged. */
import { canonicalJson, type JsonObject } from '@sluice/base'
import { makeCall } from './admit.ts'
import { isObject } from './arguments.ts'
import { ask } from './asking.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { failureOf } from './failure.ts'
import type { Listener } from './listeners.ts'
import { payload } from './payload.ts'
import type { Asked, CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call } from './types.ts'

const event = 'tools/prepare'

export function prepare(state: CallState): CallOutcome<'prepare'> | Promise<CallOutcome<'prepare'>> {
  const listeners = state.machine.listeners.of(event, state.start.agent)
  return listeners.length === 0 ? 'ready' : rewrite(state, listeners)
}

async function rewrite(state: CallState, listeners: readonly Listener[]): Promise<CallOutcome<'prepare'>> {
  const entry = state.entry as Registered
  const asked: Asked[] = []
  state.detail.asked = asked
  let breaker: string | undefined
  for (const [index, listener] of listeners.entries()) {
    const call = state.call as Call
    const startedAt = state.machine.clock.monotonic()
    asked.push(listener.plugin)
    const args = await changed(state, listener, call).catch((error: unknown) => {
      state.noteUnasked(listeners, asked.length)
      throw error
    })
    if (!args) continue
    const ms = state.machine.clock.monotonic() - startedAt
    asked[index] = { plugin: listener.plugin, said: 'rewrite', ms }
    const wasValid = breaker === undefined
    const isValid = entry.parameters.test(args)
    if (isValid) breaker = undefined
    else if (wasValid) breaker = listener.plugin
    state.call = makeCall(state, entry, args)
    state.card = state.call.card
    state.rewrittenBy = listener.plugin
    const { id, session } = state.start
    session.append('tool/rewritten', {
      callId: id,
      by: listener.plugin,
      before: call.args,
      after: args,
      card: state.card,
    })
  }
  if (breaker === undefined) return 'ready'
  state.detail.by = breaker
  state.outcome = { tag: 'invalid', executed: 'no', problems: entry.parameters.problems(state.args), by: breaker }
  return 'invalid'
}

/** The arguments that the listener wants, frozen; `undefined` when they are the same. */
async function changed(state: CallState, listener: Listener, call: Call): Promise<JsonObject | undefined> {
  const before = call.args
  try {
    const answer = await ask(state, event, listener, { divert: true }, () => listener.call(call, () => before))
    if (answer === before) return undefined
    const { value } = payload(answer)
    if (!isObject(value))
      throw toolsErrors('TOOLS_BAD_ANSWER', { event, problem: 'the arguments returned are no object' })
    return canonicalJson(value) === canonicalJson(before) ? undefined : value
  } catch (error) {
    throw failureOf(error, listener.plugin)
  }
}
