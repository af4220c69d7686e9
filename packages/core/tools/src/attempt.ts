/** Owns attempts: what one try came to, however it ended, frozen. */
import { isSluiceError, type Json, messageOf, textOf } from '@sluice/base'
import { type AbortSource, codeOf } from '@sluice/listeners'
import type { Executed } from '@sluice/session'
import { payload } from './arguments.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { abortReason, deadlineReason, noMessage, noReason } from './prompt.ts'
import type { AdmittedCall } from './state.ts'

/** What one try came to. */
export type Attempt =
  | { readonly status: 'succeeded'; readonly executed: Executed; readonly value: Json; readonly late?: true }
  | { readonly status: 'failed'; readonly executed: Executed; readonly code: string; readonly message: string }
  | { readonly status: 'aborted'; readonly executed: Executed; readonly reason: string }
  | { readonly status: 'timed-out'; readonly executed: Executed; readonly reason: string }

/** The reason of a signal that a deadline fired. */
export class DeadlineReached extends Error {
  override readonly name = 'TimeoutError'
  constructor(ms: number) {
    super(deadlineReason(ms))
  }
}

export function failed(error: { code: string; message: string }, executed: Executed): Attempt {
  return Object.freeze({ status: 'failed', executed, code: error.code, message: error.message.toWellFormed() })
}

/** What a fired source makes of a try. */
export function stopped({ reason }: AbortSource, executed: Executed): Attempt {
  const status = reason instanceof DeadlineReached ? 'timed-out' : 'aborted'
  return Object.freeze({ status, executed, reason: abortReason(reason) })
}

/** An error is specific unless it is the signal's reason, named AbortError or TimeoutError, or says that the same abort
 *  ended a nested call. */
export function thrown(error: unknown, source: AbortSource): Attempt {
  if (source.aborted && (error === source.reason || isStop(error))) return stopped(source, 'yes')
  return failed({ code: codeOf(error, 'TOOLS_BODY_FAILED'), message: messageOf(error) }, 'yes')
}

function isStop(error: unknown): boolean {
  try {
    if (isSluiceError(error, 'TOOLS_NESTED_FAILED')) return (error.data as { code?: unknown }).code === 'aborted'
    return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError')
  } catch {
    return false
  }
}

export function returned(entry: Registered, value: unknown, source: AbortSource): Attempt {
  const checked = checkedValue(entry, value)
  if ('code' in checked) return failed(checked, 'yes')
  return Object.freeze({ status: 'succeeded', executed: 'yes', ...checked, ...(source.aborted && { late: true }) })
}

/** The value as frozen JSON that fits the output schema, or the error. Nothing returned is `null`. */
export function checkedValue(
  { output }: Registered,
  given: unknown,
): { readonly value: Json } | { readonly code: string; readonly message: string } {
  let value: Json
  try {
    value = given === undefined ? null : payload(given).value
  } catch (error) {
    return toolsErrors('TOOLS_RESULT_NOT_JSON', (error as { data: { path: string; problem: string } }).data)
  }
  try {
    if (!output || output.test(value)) return { value }
    const problems = output.problems(value).map((p) => `${p.path} ${p.problem}`)
    return toolsErrors('TOOLS_OUTPUT_INVALID', { problems: problems.join('; ') })
  } catch (error) {
    return toolsErrors('TOOLS_OUTPUT_INVALID', { problems: messageOf(error) })
  }
}

/** An attempt that a wrapper made itself; what it says of `executed` is replaced by what is known.
 *  @throws TOOLS_BAD_ANSWER */
export function decodeAttempt({ entry, executed }: AdmittedCall, answer: unknown): Attempt {
  const { status, value, code, message, reason } = (answer ?? {}) as Record<string, unknown>
  switch (status) {
    case 'succeeded': {
      const checked = checkedValue(entry, value)
      return 'code' in checked ? failed(checked, executed) : Object.freeze({ status, executed, value: checked.value })
    }
    case 'failed':
      return failed({ code: textOf(code) ?? 'TOOLS_BODY_FAILED', message: textOf(message) ?? noMessage }, executed)
    case 'aborted':
    case 'timed-out':
      return Object.freeze({ status, executed, reason: textOf(reason) ?? noReason })
    default: {
      const problem = 'the answer is no attempt; return what next() gave'
      throw toolsErrors('TOOLS_BAD_ANSWER', { event: 'tools/execute', problem })
    }
  }
}
