/** Owns every sentence of this package that a model reads. */
import type { Executed } from '@sluice/session'

const executedText: Record<Executed, string> = {
  yes: 'The tool ran.',
  no: 'The tool did not run.',
  unknown: 'Whether it took effect is unknown: look before you repeat it.',
}

/** Characters of a name that no tool has, which may be anything. */
export const NAME_SHOWN_MAX = 100

export const noOutput = '(no output)'

export function unknownToolText(tool: string, nearest: readonly string[]): string {
  const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(' or ')}?` : ''
  return `There is no tool named ${JSON.stringify(tool.slice(0, NAME_SHOWN_MAX).toWellFormed())}.${hint} Nothing was run.`
}

export function invalidText(
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

export function deniedText(reason: string, by: string, remedy: string | undefined): string {
  return `Denied by ${by}: ${reason}${remedy === undefined ? '' : `\n${remedy}`}\nThe tool did not run.`
}

export function failedText(message: string, executed: Executed): string {
  return executed === 'yes' ? message : `${message}\n${executedText[executed]}`
}

export function abortedText(reason: string, executed: Executed): string {
  return `Aborted: ${reason}. ${executedText[executed]}`
}

export function timedOutText(reason: string, executed: Executed): string {
  return `Timed out: ${reason}. ${executedText[executed]}`
}

export function withheldText(code: string, by: string, executed: Executed): string {
  return `The result is withheld because ${by} failed (${code}). ${executedText[executed]}`
}

export function rewrittenLine(by: string, args: string): string {
  return `[The arguments were changed by ${by} before the call: ${args}]`
}

export const nobodyToAsk = 'this needs the approval of a person, and nobody could be asked'
export const approvalCancelled = 'the question was dismissed'
export const approvalRejected = 'a person said no'
export const approvalNeeded = 'no rule allows this call'

export function cutOffReason(why: string): string {
  return `the message ended early (${why}), so none of its calls was run; send a smaller message`
}
