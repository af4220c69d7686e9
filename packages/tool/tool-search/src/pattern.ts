/** Owns how a pattern is given to ripgrep. */
import type { GrepArgs } from './arguments.ts'

/** One argument, so that a pattern that starts with a dash is no option. */
export function patternArgs({ pattern, literal, ignoreCase, multiline }: GrepArgs): string[] {
  return [
    `--regexp=${pattern}`,
    ...(literal ? ['--fixed-strings'] : []),
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
  ]
}
