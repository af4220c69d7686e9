/** Owns every string of this package that a model reads. */
import type { CommandResult } from './types.ts'

export const description = (defaultMs: number, maxMs: number) =>
  [
    'Runs a command with bash in the working folder and returns what it printed, with its exit code if that is not 0.',
    'Each call is a new shell: a changed folder, variables and functions do not last. Nothing can be typed in.',
    `A command that takes longer than ${defaultMs} ms is ended; timeoutMs raises that up to ${maxMs} ms.`,
    'Processes left in the background are ended with the command. Long output keeps its beginning and its end.',
    'For reading, writing and searching files use the tools for that.',
  ].join(' ')

export const parameterTexts = {
  command: 'The command, as typed in bash.',
  description: 'What the command does, in a few words, for the person who watches.',
  timeoutMs: 'Time limit in milliseconds.',
}

export const omittedNote = (characters: number) => `\n[… ${characters} characters omitted …]\n`

export const notStarted = (shell: string, cwd: string, problem: string) =>
  `The command did not run: ${shell} cannot be started in ${cwd}: ${problem}.`

export function resultText(result: CommandResult): string {
  const notes = [endText(result), survivorText(result)].filter((note) => note !== undefined)
  const output = result.output.replace(/\n+$/, '')
  if (output === '' && notes.length === 0) return '(no output)'
  return [...(output === '' ? [] : [output]), ...notes].join('\n')
}

function endText({ ended, exitCode, signal, durationMs }: CommandResult): string | undefined {
  const after = `after ${Math.round(durationMs)} ms, with all its processes`
  if (ended === 'timed-out') return `[timed out: the command was ended ${after}]`
  if (ended === 'aborted') return `[aborted: the command was ended ${after}]`
  if (signal !== null) return `[ended by ${signal}]`
  return exitCode === 0 ? undefined : `[exit code ${exitCode}]`
}

function survivorText({ survivors, ended }: CommandResult): string | undefined {
  if (survivors === 'alive') return '[some processes of the command could not be ended]'
  return survivors === 'ended' && ended === 'exited'
    ? '[processes that were still running in the background were ended with the command]'
    : undefined
}
