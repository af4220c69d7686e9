/** Owns the approval stage: one question through the Approval port, every silence read as no. */
import { adopt, lossless, messageOf, textOf } from '@sluice/base'
import { abortedFailure, PluginFailure } from '@sluice/listeners'
import type { AskData, Card } from '@sluice/session'
import type { Call } from './call.ts'
import { approvalDenied } from './prompt.ts'
import type { AdmittedCall } from './state.ts'
import { type CallOutcome, callTable } from './table.ts'

export interface ApprovalRequest {
  readonly call: Call
  readonly card: Card
  readonly asks: readonly AskData[]
}

export interface ApprovalDecision {
  readonly decision: CallOutcome<'approval'>
  readonly by: string
  /** For the model, with a rejection. */
  readonly message?: string
  /** Id of the offer that the person took. */
  readonly offer?: string
}

/** Filled by `core/approval` as `ctx.approval`. Writes `approval/asked` and `approval/decided`, always paired. */
export interface ApprovalPort {
  /** Never rejects for a missing or broken answerer: that is `unavailable`. */
  ask(request: ApprovalRequest): Promise<ApprovalDecision>
}

const { outcomes } = callTable.stages.approval

export async function approval(state: AdmittedCall): Promise<CallOutcome<'approval'>> {
  const { decision, by = 'approval', message } = await consulted(state)
  if (decision === 'allowed-once') state.detail.by = by
  else state.deny(by, { reason: message ?? approvalDenied[decision] })
  return decision
}

type Answer = Partial<ApprovalDecision> & Pick<ApprovalDecision, 'decision'>
const unavailable: Answer = { decision: 'unavailable' }

async function consulted(state: AdmittedCall): Promise<Answer> {
  const { call, machine } = state
  const port = machine.approval()
  if (!port) return unavailable
  const parents = pauseDeadlines(state)
  try {
    // Copied and frozen: what a person is shown is what stands in the log, and what an answer may name.
    const asks = lossless(state.asks) as unknown as readonly AskData[]
    return decode(await answerOf(state, port.ask({ call, card: call.card, asks })))
  } catch (error) {
    if (error instanceof PluginFailure) throw error
    machine.report(`the approval service failed: ${messageOf(error)}`)
    return unavailable
  } finally {
    for (const deadline of parents) deadline.resume()
  }
}

function decode(answer: unknown): Answer {
  const { decision, by, message } = (answer ?? {}) as Partial<Record<keyof ApprovalDecision, unknown>>
  if (typeof decision !== 'string' || !Object.hasOwn(outcomes, decision)) return unavailable
  const who = textOf(by)
  const said = textOf(message)
  const given = { ...(who !== undefined && { by: who }), ...(said !== undefined && { message: said }) }
  return { decision: decision as keyof typeof outcomes, ...given }
}

/** Deadlines of the calls around this one stand still while a person is asked. */
function pauseDeadlines(state: AdmittedCall): { resume(): void }[] {
  const paused = []
  for (let outer = state.start.parent; outer; outer = outer.start.parent)
    for (const deadline of outer.deadlines ?? []) {
      deadline.pause()
      paused.push(deadline)
    }
  return paused
}

/** What the port answers, `undefined` when its plugin goes. The port closes its question by the signal of the call. */
async function answerOf({ machine, start }: AdmittedCall, asked: unknown): Promise<unknown> {
  const offs: (() => void)[] = []
  try {
    return await new Promise((resolve, reject) => {
      const aborted = () => reject(abortedFailure('approval'))
      offs.push(
        start.source.on(aborted),
        machine.onApprovalGone(() => resolve(undefined)),
      )
      adopt(asked).then(resolve, reject)
      // Whoever is asked may abort the call before the question is out.
      if (start.source.aborted) aborted()
    })
  } finally {
    for (const off of offs) off()
  }
}
