/** Owns how a failure is shown: what is, and what to do, on one screen. */
import { isSluiceError, messageOf } from '@sluice/base'
import { printable } from './printable.ts'

export const ERROR_LINES_MAX = 18

/** One screen of text for anything thrown, with the code and remedy of a typed error. */
export function formatError(error: unknown): string {
  const known = isSluiceError(error)
  const code = known ? ` (${error.code})` : ''
  const lines = [`error: ${printable(messageOf(error))}${code}`, ...causesOf(error)].flatMap((text) => text.split('\n'))
  if (!known) lines.push(...stackOf(error))
  const shown = lines.length <= ERROR_LINES_MAX ? lines : [...lines.slice(0, ERROR_LINES_MAX - 1), '  …']
  if (known) shown.push(`  → ${error.remedy}`)
  return `${shown.join('\n')}\n`
}

/** True when the command was called wrongly, so that nothing was tried. */
export function isUsage(error: unknown): boolean {
  return isSluiceError(error) && usage.has(error.code)
}

const usage: ReadonlySet<string> = new Set([
  'CLI_NO_TASK',
  'CLI_NO_MODEL',
  'CLI_MODEL_UNNAMED',
  'CLI_CWD_MISSING',
  'CLI_NOT_CONFIRMED',
])

function causesOf(error: unknown): string[] {
  const causes: string[] = []
  const told = [messageOf(error)]
  let cause = error instanceof Error ? error.cause : undefined
  const seen = new Set<unknown>([error])
  while (cause !== undefined && !seen.has(cause) && causes.length < 3) {
    seen.add(cause)
    const message = messageOf(cause)
    if (!told.some((text) => text.includes(message))) causes.push(`  because: ${printable(message)}`)
    told.push(message)
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return causes
}

/** An untyped error is a defect: where it came from helps whoever repairs it. */
function stackOf(error: unknown): string[] {
  if (!(error instanceof Error) || error.stack === undefined) return []
  return error.stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 5)
    .map((line) => printable(line))
}
