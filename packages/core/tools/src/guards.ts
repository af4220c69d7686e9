/** Owns the two moments at which guards are asked: before a person is, and right before the body. */
import { disown, isPromise } from '@sluice/base'
import { failureOf, goneFailure } from '@sluice/listeners'
import type { Call } from './call.ts'
import { toolsErrors } from './errors.ts'
import type { MountedGuard } from './registry.ts'
import { takeSlot } from './slots.ts'
import type { AdmittedCall } from './state.ts'
import type { CallOutcome } from './table.ts'

/** A deny reason, or nothing to abstain. Synchronous. */
export type Guard = (call: Call) => string | undefined

export function screen(state: AdmittedCall): CallOutcome<'screen'> {
  return refused(state) ? 'deny' : 'clear'
}

export function guards(state: AdmittedCall): CallOutcome<'guards'> | Promise<CallOutcome<'guards'>> {
  const waiting = takeSlot(state)
  return waiting ? waiting.then(() => final(state)) : final(state)
}

function final(state: AdmittedCall): CallOutcome<'guards'> {
  if (state.queuedMs > 0) state.detail.queuedMs = state.queuedMs
  return policyMissing(state) || refused(state) ? 'deny' : 'pass'
}

/** Asks the guards in order; the first reason denies.
 *  @throws PluginFailure naming a guard that answers anything but a reason or nothing */
function refused(state: AdmittedCall): boolean {
  const guards = state.machine.registry.guards(state.start.agent)
  if (guards.length === 0) return false
  const asked: string[] = (state.detail.asked = [])
  try {
    for (const guard of guards) {
      asked.push(guard.label)
      const reason = reasonOf(guard, state.call)
      if (reason === undefined) continue
      state.deny(guard.label, { reason })
      return true
    }
    return false
  } finally {
    state.noteUnasked(guards, asked.length)
  }
}

/** Why the guard denies, if it does. */
function reasonOf({ label, name, gone, check }: MountedGuard, call: Call): string | undefined {
  const event = `guard ${name}`
  try {
    if (gone) throw goneFailure(event, label)
    const answer: unknown = check(call)
    if (answer === undefined) return undefined
    if (typeof answer === 'string' && answer !== '') return answer.toWellFormed()
    disown(answer)
    const problem = isPromise(answer)
      ? 'a guard is synchronous, but it returned a promise'
      : 'neither a reason nor undefined'
    throw toolsErrors('TOOLS_BAD_ANSWER', { event, problem })
  } catch (error) {
    throw failureOf(error, label)
  }
}

/** Denies the call while a required policy is not active. */
export function policyMissing(state: AdmittedCall): boolean {
  const policies = state.machine.policies.missing()
  if (policies.length === 0) return false
  const { code, message: reason, remedy } = toolsErrors('TOOLS_POLICY_MISSING', { policies })
  state.deny(policies.join(', '), { reason, code, remedy })
  return true
}
