/** Owns the life of one call: the table's stages bound to what they do. */
import { messageOf } from '@sluice/base'
import { abortedFailure, PluginFailure } from '@sluice/listeners'
import { makeExecutor } from '@sluice/pipeline'
import { admit } from './admit.ts'
import { approval } from './approval.ts'
import { toolsErrors } from './errors.ts'
import { execute } from './execute.ts'
import { guards, screen } from './guards.ts'
import { withhold } from './outcome.ts'
import { postExecute } from './post.ts'
import { prepare } from './prepare.ts'
import { denied, finalize, record, rescue, result } from './settle.ts'
import { leaveSlot } from './slots.ts'
import type { AdmittedCall, CallState, DecidedCall, DeniedCall, EndedCall } from './state.ts'
import { callTable } from './table.ts'
import type { SettledCall } from './types.ts'
import { preExecute } from './verdicts.ts'

/** What a call is when it enters a stage, by the ways that lead there. */
interface Entering {
  prepare: AdmittedCall
  'pre-execute': AdmittedCall
  screen: AdmittedCall
  approval: AdmittedCall
  guards: AdmittedCall
  execute: AdmittedCall
  denied: DeniedCall
  'post-execute': EndedCall
  finalize: DecidedCall
  result: DecidedCall
}

const executeCall = makeExecutor<typeof callTable, CallState, Entering>(
  callTable,
  {
    admit,
    prepare,
    'pre-execute': preExecute,
    screen,
    approval,
    guards,
    execute,
    denied,
    'post-execute': postExecute,
    normalize: () => 'normalized',
    finalize,
    result,
  },
  {
    record(state, stage, outcome) {
      state.step(stage, outcome)
      // Taken in `guards`, held until the call leaves `execute`.
      if (outcome !== 'pass') leaveSlot(state)
    },
    detourOf: (_state, error) => (error instanceof PluginFailure ? error.how : 'threw'),
    rescued(state, stage, detour, error) {
      const failure = detour === 'aborted' ? abortedFailure('tools') : ownFailure(stage, error)
      rescue(state, stage, failure)
    },
    aborted: (state) => state.start.source.aborted,
  },
)

function ownFailure(stage: string, error: unknown): PluginFailure {
  if (error instanceof PluginFailure) return error
  return new PluginFailure('threw', 'tools', toolsErrors('TOOLS_MACHINERY', { stage, problem: messageOf(error) }))
}

/** Takes the call from admission to its one result. Never rejects. */
export async function runCall(state: CallState): Promise<SettledCall> {
  const { watchdog } = state.machine.limits
  watchdog.hold()
  try {
    await executeCall(state)
  } catch (error) {
    const { code, message } = ownFailure('the executor', error)
    state.machine.report(message)
    withhold(state, code, 'tools', message)
  } finally {
    watchdog.release()
  }
  leaveSlot(state)
  // Whatever way it took, it has an outcome now.
  return record(state as DecidedCall)
}
