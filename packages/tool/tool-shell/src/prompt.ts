/** Owns every string of this package that a model reads. */
import type { BlobRef } from '@sluice/session'
import type { CommandEnd, CommandResult, Granted, JobReport, JobStarted, ShownOutput } from './types.ts'

export const description = (defaultMs: number, maxMs: number) =>
  [
    'Runs a command with bash in the working folder and returns what it printed, with its exit code if that is not 0.',
    'Each call is a new shell: a changed folder, variables and functions do not last. Nothing can be typed in.',
    `A command that takes longer than ${defaultMs} ms is ended; timeoutMs raises that up to ${maxMs} ms.`,
    'With background the command goes on after the call, which returns the id of a job for bash_output and bash_kill;',
    'use it for servers and watchers. Other processes left in the background are ended with the command.',
    'Long output keeps its beginning and its end. For reading, writing and searching files use the tools for that.',
  ].join(' ')

export const outputDescription = [
  'Returns what a background job of bash has printed since it was last asked, whether it still runs, and how it ended.',
  'With waitMs it first waits for the end of the job.',
].join(' ')

export const killDescription =
  'Ends a background job of bash with all its processes and returns what it had printed since it was last asked.'

export const parameterTexts = {
  command: 'The command, as typed in bash.',
  description: 'What the command does, in a few words, for the person who watches.',
  timeoutMs: 'Time limit in milliseconds. A background job has none unless this is given.',
  background: 'Go on after the call. The job is ended with the session.',
  hosts: 'Hosts that the command must reach and the sandbox keeps from it, to ask a person for.',
  host: 'Such as example.org, *.example.org or example.org:443.',
  unconfined: 'Ask a person to run the command outside of the sandbox. Only for what cannot be done inside.',
  job: 'The id that bash returned.',
  waitMs: 'How long to wait for the job to end, in milliseconds.',
}

const blobName = (digest: string) => digest.slice(0, 12)

export const keptNote = (omitted: number, { digest, size }: BlobRef, all: boolean) =>
  `\n[… ${omitted} characters omitted; ${all ? 'the whole output is' : `its first ${size} bytes are`} kept as blob ${blobName(digest)} …]\n`

export const lostNote = (omitted: number, problem: string) =>
  `\n[… ${omitted} characters omitted; they could not be kept: ${problem} …]\n`

export const notStarted = (shell: string, cwd: string, problem: string) =>
  `The command did not run: ${shell} cannot be started in ${cwd}: ${problem}.`

export const tooManyJobs = (max: number) =>
  `The command did not run: ${max} background jobs run already. End one first.`

export const unknownJob = (job: string, known: readonly string[]) =>
  `There is no job ${job} in this session. ${known.length === 0 ? 'It has none.' : `Its jobs are ${known.join(', ')}.`}`

export function bashText(value: CommandResult | JobStarted): string {
  if ('job' in value) return `[running in the background as ${value.job}]`
  return textOf(value.output, [...endNotes(value), ...limitsNotes(value), ...authorityNotes(value)])
}

export function jobText(report: JobReport): string {
  const { job, output, end, runningMs } = report
  if (!end) return textOf(output, [`[${job} still runs, since ${Math.round(runningMs)} ms]`])
  const notes = [...endNotes(end), ...limitsNotes(report), ...authorityNotes(report)]
  return textOf(output, notes.length > 0 ? notes : [`[${job} has ended with exit code 0]`])
}

/** What programs say when something is refused to them. */
const REFUSALS = [
  'Read-only file system|EROFS',
  'Permission denied|EACCES',
  'Operation not permitted|EPERM',
  'Device or resource busy|EBUSY',
  'Cross-device link|EXDEV',
  'Connection refused|ECONNREFUSED|Network is unreachable|ENETUNREACH',
  'resolve host|Name or service not known|name resolution|ENOTFOUND|EAI_AGAIN',
  'blocked by network allowlist|CONNECT tunnel failed|status code 403',
]
const refusal = new RegExp(REFUSALS.join('|'), 'i')

/** Whether the limits of the sandbox may be what a failed command ran into. */
export function looksRefused(output: string, { exitCode }: CommandEnd): boolean {
  return exitCode !== 0 && refusal.test(output)
}

function limitsNotes({ limits }: ShownOutput): string[] {
  if (limits === undefined) return []
  return [
    `[the command ran in a sandbox: ${limits}. If that is what kept it, ask for more with hosts or unconfined, or do without]`,
  ]
}

/** Paths that are told. */
const PATHS_MAX = 10

/** Read by the person on the card as well. */
export function authorityNotes({ authority }: Granted): string[] {
  if (!authority || authority.paths.length === 0) return []
  const { paths } = authority
  const more = paths.length > PATHS_MAX ? ` and ${paths.length - PATHS_MAX} more` : ''
  const named = `${paths.slice(0, PATHS_MAX).map(onOneLine).join(', ')}${more}`
  return [
    `[files that decide what may be done here, or what runs, are new: ${named}. Later commands can only read them]`,
  ]
}

/** A name may hold anything, also what looks like a note or moves the cursor of a terminal. */
function onOneLine(path: string): string {
  return path.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`)
}

export const cutNote =
  '[not all of the workspace could be looked into or protected: some files that decide what may be done here may be unprotected]'

function textOf(output: string, notes: readonly string[]): string {
  const text = output.replace(/\n+$/, '')
  if (text === '' && notes.length === 0) return '(no output)'
  return [...(text === '' ? [] : [text]), ...notes].join('\n')
}

function endNotes(end: CommandEnd): string[] {
  return [endText(end), survivorText(end)].filter((note) => note !== undefined)
}

/** Those by which programs end, by the numbers that they have everywhere. */
const signals: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
}

function endText({ ended, exitCode, signal, durationMs }: CommandEnd): string | undefined {
  const after = `after ${Math.round(durationMs)} ms, with all its processes`
  if (ended === 'timed-out') return `[timed out: the command was ended ${after}]`
  if (ended === 'aborted') return `[aborted: the command was ended ${after}]`
  if (ended === 'crowded') return `[too many processes: the command was ended ${after}]`
  if (signal !== null) return `[ended by ${signal}]`
  if (exitCode === 0 || exitCode === null) return undefined
  // A shell gives the signal that ended its last program so, and a program may mean it otherwise.
  const meant = signals[exitCode - 128]
  return `[exit code ${exitCode}${meant === undefined ? '' : `, as after ${meant}`}]`
}

function survivorText({ survivors, ended }: CommandEnd): string | undefined {
  if (survivors === 'alive') return '[some processes of the command could not be ended]'
  return survivors === 'ended' && ended === 'exited'
    ? '[processes that were still running in the background were ended with the command]'
    : undefined
}
