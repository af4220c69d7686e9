/** Owns the prepare stage: listeners rewrite the arguments one after another, each change checked and logged. */
import { canonicalJson, isObject, type JsonObject } from '@sluice/base'
import { ask, type Asked, failureOf, type Listener } from '@sluice/listeners'
import { payload } from './arguments.ts'
import { callOf } from './call.ts'
import { toolsErrors } from './errors.ts'
import { setOutcome } from './outcome.ts'
import type { AdmittedCall } from './state.ts'
import type { CallOutcome } from './table.ts'

const event = 'tools/prepare'

export function prepare(state: AdmittedCall): CallOutcome<'prepare'> | Promise<CallOutcome<'prepare'>> {
  const listeners = state.listenersOf(event)
  return listeners.length === 0 ? 'ready' : rewrite(state, listeners)
}

async function rewrite(state: AdmittedCall, listeners: readonly Listener[]): Promise<CallOutcome<'prepare'>> {
  const { machine, start, entry } = state
  const asked: Asked[] = (state.detail.asked = [])
  let breaker: string | undefined
  try {
    for (const [index, listener] of listeners.entries()) {
      const { args: before } = state.call
      const { plugin: by } = listener
      const startedAt = machine.clock.monotonic()
      asked.push(by)
      const after = await changed(state, listener)
      if (!after) continue
      asked[index] = { plugin: by, said: 'rewrite', ms: machine.clock.monotonic() - startedAt }
      breaker = entry.parameters.test(after) ? undefined : (breaker ?? by)
      state.call = callOf(state, entry, after)
      state.rewrittenBy = by
      start.session.append('tool/rewritten', { callId: start.id, by, before, after, card: state.call.card })
    }
  } finally {
    state.noteUnasked(listeners, asked.length)
  }
  if (breaker === undefined) return 'ready'
  state.detail.by = breaker
  const problems = entry.parameters.problems(state.call.args)
  setOutcome(state, { tag: 'invalid', executed: 'no', problems, by: breaker })
  return 'invalid'
}

/** The arguments that the listener wants, frozen; `undefined` when they are the same. */
async function changed({ machine, start, call }: AdmittedCall, listener: Listener): Promise<JsonObject | undefined> {
  const before = call.args
  try {
    const answer = await ask(listener, machine.limits, start.source, () => listener.call(call, () => before))
    if (answer === before) return undefined
    const { value } = payload(answer)
    if (!isObject(value))
      throw toolsErrors('TOOLS_BAD_ANSWER', { event, problem: 'the arguments returned are no object' })
    return canonicalJson(value) === canonicalJson(before) ? undefined : value
  } catch (error) {
    throw failureOf(error, listener.plugin)
  }
}
