/** Owns the two moments at which guards are asked: before a person is, and right before the body. */
import { disown, isPromise } from './asking.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, StageFailure } from './failure.ts'
import type { MountedGuard } from './registry.ts'
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
  const guards = state.machine.registry.guards(state.start.agent)
  for (const [index, guard] of guards.entries()) {
    ;(state.detail.asked ??= []).push(guard.label)
    const reason = reasonOf(guard, state.call as Call, () => state.noteUnasked(guards, index + 1))
    if (reason === undefined) continue
    state.deny({ by: guard.label, reason })
    return true
  }
  return false
}

/** Why the guard denies, if it does. `last` is called when no further guard will be asked. */
function reasonOf(guard: MountedGuard, call: Call, last: () => void): string | undefined {
  const { label, name } = guard
  try {
    if (guard.gone) throw new StageFailure('threw', label, 'TOOLS_LISTENER_GONE', `the guard ${name} was unloaded`)
    const answer: unknown = guard.check(call)
    if (answer === undefined) return undefined
    if (typeof answer !== 'string' || answer === '') {
      disown(answer)
      const problem = isPromise(answer)
        ? 'a guard is synchronous, but it returned a promise'
        : 'neither a reason nor undefined'
      throw toolsErrors('TOOLS_BAD_ANSWER', { event: `guard ${name}`, problem })
    }
    last()
    return answer.toWellFormed()
  } catch (error) {
    last()
    throw failureOf(error, label)
  }
}
