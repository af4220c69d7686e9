/** Owns the ways that recorded calls took, read from the log alone. */
import { firstBadStep, type StageTable, type Step } from '@sluice/pipeline'
import type { KnownEvent, SessionEvent, ToolResultData } from '@sluice/session'
import { traceOf } from '@sluice/tools'

export interface RecordedCall {
  readonly callId: string
  readonly tool: string
  /** The call that made it. */
  readonly parent?: string
  /** Tag of its outcome; absent while it has no result. */
  readonly outcome?: string
  readonly steps: readonly Step[]
  /** Why the steps are no way from the start of the table to its end. */
  readonly problem?: string
}

/** Every call of a session, nested ones too, in the order of the log. */
export function recordedCalls(events: Iterable<SessionEvent>, table: StageTable): RecordedCall[] {
  const calls = new Map<string, RecordedCall>()
  const begin = (callId: string, tool: string, parent?: string) => {
    calls.set(callId, { callId, tool, ...(parent !== undefined && { parent }), steps: [], problem: 'it has no result' })
  }
  const end = (result: Readonly<ToolResultData>) => {
    const { callId, tool, outcome } = result
    const { problem: _open, ...call } = calls.get(callId) ?? { callId, tool }
    calls.set(callId, { ...call, outcome: outcome.tag, ...wayOf(result, table) })
  }
  for (const { type, data } of events as Iterable<KnownEvent>) {
    if (type === 'tool/call') begin(data.callId, data.tool)
    else if (type === 'tool/result') end(data)
    else if (type === 'tool/code-dispatch') {
      if (data.call) begin(data.callId, data.call.tool, data.parent)
      if (data.result) end(data.result)
    }
  }
  return [...calls.values()]
}

function wayOf(result: Readonly<ToolResultData>, table: StageTable): Pick<RecordedCall, 'steps' | 'problem'> {
  const trace = traceOf(result)
  if (trace === undefined) return { steps: [], problem: 'repair has settled it' }
  const steps = trace.map(({ stage, outcome }) => ({ stage, outcome }))
  const bad = firstBadStep(table, steps)
  return bad === undefined ? { steps } : { steps, problem: `step ${bad.index + 1}: ${bad.problem}` }
}
