/** Owns every sentence of this package that a model reads. */
import type { Executed, Outcome } from '@sluice/session'
import type { CallOutcome } from './table.ts'

const executedText: Record<Executed, string> = {
  yes: 'The tool ran.',
  no: 'The tool did not run.',
  unknown: 'Whether it took effect is unknown: look before you repeat it.',
}

/** Characters of a name that no tool has, which may be anything. */
export const NAME_SHOWN_MAX = 100
/** Characters of argument text that a result quotes. */
const QUOTED_MAX = 500

export function quotedText(text: string): string {
  return text.slice(0, QUOTED_MAX).toWellFormed()
}

export const noOutput = '(no output)'

/** What a model reads of an outcome that has no content of its own. */
export function outcomeText(
  outcome: Outcome,
  tool: string,
  quoted: string | undefined,
  remedy: string | undefined,
): string {
  const { executed } = outcome
  switch (outcome.tag) {
    case 'succeeded':
      return ''
    case 'failed':
      return executed === 'yes' ? outcome.message : `${outcome.message}\n${executedText[executed]}`
    case 'denied':
      return deniedText(outcome.reason, outcome.by, remedy)
    case 'aborted':
      return `Aborted: ${outcome.reason}. ${executedText[executed]}`
    case 'timed-out':
      return `Timed out: ${outcome.reason}. ${executedText[executed]}`
    case 'invalid':
      return invalidText(tool, outcome.problems, quoted, outcome.by)
    case 'unknown-tool':
      return unknownToolText(tool, outcome.nearest)
    case 'interrupted':
      return `Aborted: interrupted. ${executedText[executed]}`
  }
}

function unknownToolText(tool: string, nearest: readonly string[]): string {
  const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(' or ')}?` : ''
  return `There is no tool named ${JSON.stringify(tool.slice(0, NAME_SHOWN_MAX).toWellFormed())}.${hint} Nothing was run.`
}

function invalidText(
  tool: string,
  problems: readonly { readonly path: string; readonly problem: string }[],
  quoted: string | undefined,
  by: string | undefined,
): string {
  const cause = by === undefined ? '' : ` after ${by} changed them`
  const list = problems.map((p) => `- ${p.path}: ${p.problem}`).join('\n')
  const text = quoted === undefined ? '' : `\nYou wrote: ${quoted}`
  return `The arguments of ${tool} are invalid${cause}. Nothing was run.\n${list}${text}`
}

function deniedText(reason: string, by: string, remedy: string | undefined): string {
  return `Denied by ${by}: ${reason}${remedy === undefined ? '' : `\n${remedy}`}\nThe tool did not run.`
}

export function brokenText(by: string, code: string, message: string): string {
  return `${by} failed (${code}): ${message}`
}

export function withheldText(code: string, by: string, executed: Executed): string {
  return `The result is withheld because ${by} failed (${code}). ${executedText[executed]}`
}

export function rewrittenLine(by: string, args: string): string {
  return `[The arguments were changed by ${by} before the call: ${quotedText(args)}]`
}

/** The reason of an abort in words. */
export function abortReason(reason: unknown): string {
  if (typeof reason === 'string' && reason !== '') return reason.toWellFormed()
  if (reason instanceof Error && reason.name !== 'AbortError' && reason.message !== '')
    return reason.message.toWellFormed()
  return 'the caller stopped it'
}

export function cutOffReason(why: string): string {
  return `the message ended early (${why}), so none of its calls was run; send a smaller message`
}

export function deadlineReason(ms: number): string {
  return `no end within ${ms} ms`
}

export const approvalNeeded = 'no rule allows this call'
export const approvalDenied: Record<Exclude<CallOutcome<'approval'>, 'allowed-once'>, string> = {
  rejected: 'a person said no',
  cancelled: 'the question was dismissed',
  unavailable: 'this needs the approval of a person, and nobody could be asked',
}

/** What a nested call is cancelled with. */
export const outerEnded = 'the body of the outer call has ended'
export const outerAbandoned = 'the call was abandoned'

/** Of an attempt that a wrapper made without saying why. */
export const noMessage = 'it failed'
export const noReason = 'no reason given'

export const notContent = 'content is a text, or a list of texts { type: "text", text } and images'

export function cannotShow(problem: string): string {
  return `its result cannot be shown: ${problem}`
}

/** What is wrong with arguments as they came. */
export const notAnObject = 'the arguments are not an object'
