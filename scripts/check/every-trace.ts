/** Owns checking the trace of every call that any test records: each step is an edge of the call table. */
import { firstBadStep } from '@sluice/pipeline'
import type { SessionEvent, ToolResultData } from '@sluice/session'
import { callTable, traceOf } from '@sluice/tools'
import { afterEach, expect } from 'vitest'
import { LiveSession } from '../../packages/core/session/src/session.ts'

interface Held {
  append: (this: unknown, type: string, data: unknown, options?: object) => SessionEvent
  /** Test files that share their modules share this list too. */
  badTraces?: string[]
}

const held = LiveSession.prototype as unknown as Held
const found = (held.badTraces ??= watch([]))

/** What was found since it was last asked. */
export function badTraces(): string[] {
  return found.splice(0)
}

/** The one trace that may stop before the end is that of a call whose machinery failed. */
function problemsOf(result: ToolResultData): string[] {
  const trace = traceOf(result)
  const bad = trace && firstBadStep(callTable, trace)
  const { outcome } = result
  const mayStop = 'code' in outcome && outcome.code === 'TOOLS_MACHINERY'
  if (bad === undefined || (mayStop && bad.index === trace?.length)) return []
  return [`step ${bad.index + 1} of a call: ${bad.problem}`]
}

function watch(problems: string[]): string[] {
  const { append } = held
  held.append = function (type, data, options) {
    const event = append.call(this, type, data, options)
    const result =
      type === 'tool/result' ? data : type === 'tool/code-dispatch' && (data as { result?: unknown }).result
    if (result) problems.push(...problemsOf(result as ToolResultData))
    return event
  }
  return problems
}

afterEach(() => expect(badTraces()).toEqual([]))
