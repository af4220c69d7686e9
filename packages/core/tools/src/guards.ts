/** Owns the two moments at which guards are asked: before a person is, and right before the body. */
import { disown, isPromise } from './asking.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, StageFailure } from './failure.ts'
import { waitForSlot } from './slots.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call } from './types.ts'
import { policyMissing } from './verdicts.ts'

export function screen(state: CallState): CallOutcome<'screen'> {
  return refused(state) ? 'deny' : 'clear'
}

export function guards(state: CallState): CallOutcome<'guards'> | Promise<CallOutcome<'guards'>> {
  const waiting = waitForSlot(state)
  return waiting ? waiting.then(() => final(state)) : final(state)
}

function final(state: CallState): CallOutcome<'guards'> {
  if (state.queuedMs > 0) state.detail.queuedMs = state.queuedMs
  return policyMissing(state) || refused(state) ? 'deny' : 'pass'
}

/** Asks the guards in order; the first reason denies.
 *  @throws StageFailure naming a guard that answers anything but a reason or nothing */
function refused(state: CallState): boolean {
  const call = state.call as Call
  for (const guard of state.machine.registry.guards(state.start.agent)) {
    const by = `${guard.plugin} (guard ${guard.name})`
    let answer: unknown
    if (guard.gone) throw new StageFailure('threw', by, 'TOOLS_LISTENER_GONE', `the guard ${guard.name} was unloaded`)
    try {
      answer = guard.check(call)
    } catch (error) {
      throw failureOf(error, by)
    }
    if (answer === undefined) continue
    if (typeof answer !== 'string' || answer === '') {
      disown(answer)
      const problem = isPromise(answer)
        ? 'a guard is synchronous, but it returned a promise'
        : 'neither a reason nor undefined'
      throw failureOf(toolsErrors('TOOLS_BAD_ANSWER', { event: `guard ${guard.name}`, problem }), by)
    }
    state.deny({ by, reason: answer.toWellFormed() })
    return true
  }
  return false
}
