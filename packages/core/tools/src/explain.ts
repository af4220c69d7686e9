/** Owns the account of one call: read from the log alone. */
import type { KnownEvent, Outcome, SessionEvent, ToolCallData, ToolResultData } from '@sluice/session'
import type { Asked } from '@sluice/listeners'
import type { TraceStep, Try } from './state.ts'

export interface Explanation {
  readonly callId: string
  readonly tool: string
  readonly call: Readonly<ToolCallData>
  readonly outcome: Outcome | undefined
  readonly steps: readonly TraceStep[]
  /** Everyone who was asked, in order, with what they said. */
  readonly asked: readonly { readonly stage: string; readonly said: Asked }[]
  /** Who was mounted and not asked, because the stage ended before. */
  readonly unasked: readonly { readonly stage: string; readonly plugin: string }[]
  /** Rules that would have allowed the call, by the plugin that offers them. */
  readonly offers: readonly { readonly by: string; readonly id: string; readonly text: string }[]
  readonly rewrites: readonly { readonly by: string; readonly before: unknown; readonly after: unknown }[]
  readonly approval:
    | { readonly question: string; readonly decision: string; readonly by: string; readonly message?: string }
    | undefined
  readonly tries: readonly Try[]
  /** Each recorded reason why the call did not run. */
  readonly blockers: readonly {
    readonly stage: string
    readonly by: string
    readonly reason: string
    readonly rule?: string
  }[]
}

/** What happened to the call and who decided; `undefined` when the log has no such call. */
export function explain(events: readonly SessionEvent[], callId: string): Explanation | undefined {
  let call: Readonly<ToolCallData> | undefined
  let result: Readonly<ToolResultData> | undefined
  const rewrites: { by: string; before: unknown; after: unknown }[] = []
  let question = ''
  let approval: Explanation['approval']
  for (const event of events as readonly KnownEvent[]) {
    if ((event.data as { callId?: unknown } | null)?.callId !== callId) continue
    if (event.type === 'tool/call') call ??= event.data
    else if (event.type === 'tool/result') result ??= event.data
    else if (event.type === 'tool/code-dispatch') {
      call ??= event.data.call
      result ??= event.data.result
    } else if (event.type === 'tool/rewritten') {
      const { by, before, after } = event.data
      rewrites.push({ by, before, after })
    } else if (event.type === 'approval/asked') question = event.data.question
    else if (event.type === 'approval/decided') {
      const { decision, by, message } = event.data
      approval = { question, decision, by, ...(message !== undefined && { message }) }
    }
  }
  return call && accountOf(callId, call, result, rewrites, approval)
}

function accountOf(
  callId: string,
  call: Readonly<ToolCallData>,
  result: Readonly<ToolResultData> | undefined,
  rewrites: Explanation['rewrites'],
  approval: Explanation['approval'],
): Explanation {
  const steps = result?.trace === undefined ? [] : (JSON.parse(result.trace) as TraceStep[])
  const blocking = (step: TraceStep) =>
    step.by !== undefined && step.reason !== undefined && step.stage !== 'post-execute'
  return {
    callId,
    tool: call.tool,
    call,
    outcome: result?.outcome,
    steps,
    asked: steps.flatMap(({ stage, asked }) => (asked ?? []).map((said) => ({ stage, said }))),
    unasked: steps.flatMap(({ stage, unasked }) => (unasked ?? []).map((plugin) => ({ stage, plugin }))),
    offers: steps.flatMap(({ asked }) => (asked ?? []).flatMap(offersOf)),
    rewrites,
    approval,
    tries: steps.flatMap(({ tries }) => tries ?? []),
    blockers: steps.filter(blocking).map(({ stage, by = '', reason = '', rule }) => ({
      stage,
      by,
      reason,
      ...(rule !== undefined && { rule }),
    })),
  }
}

function offersOf(asked: Asked): Explanation['offers'] {
  if (typeof asked === 'string') return []
  return (asked.offers ?? []).map(({ id, text }) => ({ by: asked.plugin, id, text }))
}

/** The steps of a recorded call, for `firstBadStep`; `undefined` when repair settled it. */
export function traceOf(result: Readonly<ToolResultData>): readonly TraceStep[] | undefined {
  return result.trace === undefined ? undefined : (JSON.parse(result.trace) as TraceStep[])
}
