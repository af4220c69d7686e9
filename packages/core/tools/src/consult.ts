/** Owns the approval stage: one question through the Approval port, every silence read as no. */
import { lossless, messageOf } from '@sluice/base'
import type { AskData } from '@sluice/session'
import type { Call } from './types.ts'
import { StageFailure } from './failure.ts'
import { approvalCancelled, approvalRejected, nobodyToAsk } from './prompt.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'

type Consulted = CallOutcome<'approval'>
const reasons = { rejected: approvalRejected, cancelled: approvalCancelled, unavailable: nobodyToAsk } as const
const decisions: ReadonlySet<unknown> = new Set([
  'allowed-once',
  'rejected',
  'cancelled',
  'unavailable',
] satisfies Consulted[])

export async function approval(state: CallState): Promise<Consulted> {
  const port = state.machine.approval()
  if (!port) return no(state, 'unavailable', 'approval', nobodyToAsk)
  const call = state.call as Call
  const parents = pauseDeadlines(state)
  try {
    // Copied and frozen: what a person is shown is what stands in the log, and what an answer may name.
    const asks = lossless(state.asks) as unknown as readonly AskData[]
    const answer = await answerOf(state, port.ask({ call, card: call.card, asks }))
    const { decision, by, message } = (answer ?? {}) as { decision?: unknown; by?: unknown; message?: unknown }
    if (!decisions.has(decision)) return no(state, 'unavailable', 'approval', nobodyToAsk)
    const who = typeof by === 'string' ? by : 'approval'
    const said = typeof message === 'string' && message !== '' ? message.toWellFormed() : undefined
    if (decision === 'allowed-once') {
      state.detail.by = who
      return 'allowed-once'
    }
    const denial = decision as keyof typeof reasons
    return no(state, denial, who, said ?? reasons[denial])
  } catch (error) {
    if (error instanceof StageFailure) throw error
    state.machine.report(`the approval service failed: ${messageOf(error)}`)
    return no(state, 'unavailable', 'approval', nobodyToAsk)
  } finally {
    for (const deadline of parents) deadline.resume()
  }
}

function no(state: CallState, outcome: Exclude<Consulted, 'allowed-once'>, by: string, reason: string): Consulted {
  state.deny({ by, reason })
  return outcome
}

/** Deadlines of the calls around this one stand still while a person is asked. */
function pauseDeadlines(state: CallState): { resume(): void }[] {
  const paused = []
  for (let outer = state.start.parent; outer; outer = outer.start.parent)
    for (const deadline of outer.deadlines) {
      deadline.pause()
      paused.push(deadline)
    }
  return paused
}

/** What the port answers, `undefined` when its plugin goes. The port closes its question by the signal of the call. */
async function answerOf(state: CallState, asked: unknown): Promise<unknown> {
  const { machine, start } = state
  const offs: (() => void)[] = []
  try {
    return await new Promise((resolve, reject) => {
      const aborted = () => reject(new StageFailure('aborted', 'approval', '', 'aborted'))
      offs.push(
        start.source.on(aborted),
        machine.onApprovalGone(() => resolve(undefined)),
      )
      new Promise((adopt) => adopt(asked)).then(resolve, reject)
      // Whoever is asked may abort the call before the question is out.
      if (start.source.aborted) aborted()
    })
  } finally {
    for (const off of offs) off()
  }
}
