/** Owns attempts: what one try came to, however it ended, frozen. */
import { isSluiceError, type Json, messageOf } from '@sluice/base'
import { type AbortSource, reasonText } from './abort.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { codeOf } from './failure.ts'
import { payload } from './payload.ts'
import type { CallState } from './state.ts'
import type { Attempt, Executed } from './types.ts'

/** The reason of a signal that a deadline fired. */
export class DeadlineReached extends Error {
  override readonly name = 'TimeoutError'
  constructor(ms: number) {
    super(`no end within ${ms} ms`)
  }
}

export function failed(error: { code: string; message: string }, executed: Executed): Attempt {
  return Object.freeze({ status: 'failed', executed, code: error.code, message: error.message.toWellFormed() })
}

/** What a fired source makes of a try. */
export function stopped({ reason }: AbortSource, executed: Executed): Attempt {
  const status = reason instanceof DeadlineReached ? 'timed-out' : 'aborted'
  return Object.freeze({ status, executed, reason: reasonText(reason).toWellFormed() })
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
  entry: Registered,
  value: unknown,
): { readonly value: Json } | { readonly code: string; readonly message: string } {
  let copy: Json
  try {
    copy = value === undefined ? null : payload(value).value
  } catch (error) {
    const { path, problem } = (error as { data: { path: string; problem: string } }).data
    return toolsErrors('TOOLS_RESULT_NOT_JSON', { path, problem })
  }
  const problems = problemsOf(entry, copy)
  return problems === undefined ? { value: copy } : toolsErrors('TOOLS_OUTPUT_INVALID', { problems })
}

function problemsOf({ output }: Registered, value: Json): string | undefined {
  try {
    if (!output || output.test(value)) return undefined
    return output
      .problems(value)
      .map((p) => `${p.path} ${p.problem}`)
      .join('; ')
  } catch (error) {
    return messageOf(error)
  }
}

/** An attempt that a wrapper made itself; what it says of `executed` is replaced by what is known.
 *  @throws TOOLS_BAD_ANSWER */
export function decodeAttempt(state: CallState, answer: unknown): Attempt {
  const { executed } = state
  const { status, value, code, message, reason } = (answer ?? {}) as Record<string, unknown>
  const text = (given: unknown, otherwise: string) => (typeof given === 'string' ? given.toWellFormed() : otherwise)
  switch (status) {
    case 'succeeded': {
      const checked = checkedValue(state.entry as Registered, value)
      return 'code' in checked ? failed(checked, executed) : Object.freeze({ status, executed, value: checked.value })
    }
    case 'failed':
      return failed({ code: text(code, 'TOOLS_BODY_FAILED'), message: text(message, 'it failed') }, executed)
    case 'aborted':
    case 'timed-out':
      return Object.freeze({ status, executed, reason: text(reason, 'no reason given') })
    default: {
      const problem = 'the answer is no attempt; return what next() gave'
      throw toolsErrors('TOOLS_BAD_ANSWER', { event: 'tools/execute', problem })
    }
  }
}
