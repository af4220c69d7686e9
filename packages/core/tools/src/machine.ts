/** Owns the life of one call: the table's stages bound to what they do. */
import { messageOf } from '@sluice/base'
import { makeExecutor } from '@sluice/pipeline'
import { admit } from './admit.ts'
import { withhold } from './candidate.ts'
import { approval } from './consult.ts'
import { toolsErrors } from './errors.ts'
import { execute } from './execute.ts'
import { StageFailure } from './failure.ts'
import { guards, screen } from './guards.ts'
import { postExecute } from './post.ts'
import { prepare } from './prepare.ts'
import { denied, finalize, normalize, record, rescued, result } from './settle.ts'
import type { CallState } from './state.ts'
import { callTable } from './table.ts'
import { preExecute } from './verdicts.ts'

const executeCall = makeExecutor<typeof callTable, CallState>(
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
    normalize,
    finalize,
    result,
  },
  {
    record(state, stage, outcome) {
      const now = state.machine.clock.monotonic()
      state.trace.push({ stage, outcome, ms: Math.round((now - state.stageAt) * 1000) / 1000, ...state.detail })
      state.detail = {}
      state.stageAt = now
    },
    detourOf: (_state, error) => (error instanceof StageFailure ? error.detour : 'threw'),
    rescued(state, stage, _detour, error) {
      if (error === undefined || error instanceof StageFailure) rescued(state, stage, error)
      else {
        const { code, message } = toolsErrors('TOOLS_MACHINERY', { stage, problem: messageOf(error) })
        rescued(state, stage, new StageFailure('threw', 'tools', code, message, error))
      }
    },
    aborted: (state) => state.start.source.aborted,
  },
)

/** Takes the call from admission to its one result. Never rejects. */
export async function runCall(state: CallState): Promise<void> {
  try {
    await executeCall(state)
  } catch (error) {
    const { code, message } = toolsErrors('TOOLS_MACHINERY', { stage: 'the executor', problem: messageOf(error) })
    state.machine.report(message)
    withhold(state, code, 'tools', message)
  }
  state.release?.()
  state.settled = record(state)
}
