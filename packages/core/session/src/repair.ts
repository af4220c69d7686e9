/** Owns how unfinished work of a dead writer is closed: a pure plan of ordinary events. */
import { type OpenCall, type OpenWork, owedContexts } from './open-work.ts'
import { interruptedText } from './prompt.ts'
import type { Executed, SessionEventMap, SessionEventType, ToolResultData } from './types.ts'

type Planned<T extends SessionEventType = SessionEventType> = {
  [K in T]: { readonly type: K; readonly data: SessionEventMap[K]; readonly cause: number }
}[T]

/** Events that leave nothing open, innermost first; empty when nothing is. Applying a prefix and planning again gives the rest. */
export function planRepair(work: OpenWork): readonly Planned[] {
  const plan: Planned[] = []
  for (const { hook, seq } of work.hooks.toReversed()) {
    plan.push({ type: 'hook/result', data: { hook, decision: 'interrupted' }, cause: seq })
  }
  for (const call of work.nested.toReversed()) {
    if (call.parent === undefined) continue
    const data = { callId: call.callId, parent: call.parent, phase: 'settle', result: interrupted(call) } as const
    plan.push({ type: 'tool/code-dispatch', data, cause: call.seq })
  }
  for (const { callId, seq } of work.questions) {
    plan.push({ type: 'approval/decided', data: { callId, decision: 'cancelled', by: 'session' }, cause: seq })
  }
  for (const call of work.calls) plan.push({ type: 'tool/result', data: interrupted(call), cause: call.seq })
  for (const { seq, text } of owedContexts(work)) {
    const content = [{ type: 'text', text }] as const
    plan.push({ type: 'user/message', data: { content, source: 'context' }, cause: seq })
  }
  for (const { turn, step, seq } of work.steps.toReversed()) {
    plan.push({ type: 'step/ended', data: { turn, step }, cause: seq })
  }
  for (const { turn, seq } of work.turns.toReversed()) {
    plan.push({ type: 'turn/ended', data: { turn, reason: 'interrupted' }, cause: seq })
  }
  return plan
}

function interrupted(call: OpenCall): ToolResultData {
  const executed = executedOf(call)
  const text = interruptedText(executed)
  return {
    callId: call.callId,
    tool: call.tool,
    outcome: { tag: 'interrupted', executed },
    content: [{ type: 'text', text }],
    card: { v: 1, kind: 'generic', title: `${call.tool}: interrupted`, text },
  }
}

/** A body that is not read-only is announced by `tool/started` before it acts; a read-only one is not. */
function executedOf(call: OpenCall): Executed {
  if (!call.taken) return 'no'
  return call.started || call.readOnly ? 'unknown' : 'no'
}
