/** Owns the words of shell commands and background jobs. */
import type { Appeared } from '@sluice/sandbox'
import type {} from '@sluice/session'

/** How a command ended. */
export interface CommandEnd {
  /** `null` when a signal ended the shell. */
  readonly exitCode: number | null
  readonly signal: string | null
  /** `crowded`: it had more processes than a command may have. */
  readonly ended: 'exited' | 'timed-out' | 'aborted' | 'crowded'
  readonly durationMs: number
  /** Processes of the command that outlived its shell: none, ended with it, or still there after everything was tried. */
  readonly survivors: 'none' | 'ended' | 'alive'
}

/** What was printed: standard output and standard error as they came. */
export interface ShownOutput {
  /** Bounded: head, a note of what was left out, tail. */
  readonly output: string
  /** Characters left out of the middle. */
  readonly omitted: number
  /** Holds what was printed, from its beginning; there when something was left out and could be kept. */
  readonly blob?: { readonly digest: string; readonly size: number }
  /** What the sandbox held the command to; there when it failed and looks refused. */
  readonly limits?: string
}

/** What a confined command, or another that ran beside it, made of the files that grant authority. */
export interface Granted {
  /** There when it made any. */
  readonly authority?: Appeared
}

/** What one command came to. */
export interface CommandResult extends CommandEnd, ShownOutput, Granted {}

/** A command that goes on after its call. */
export interface JobStarted {
  readonly job: string
}

/** What a job has printed since it was last asked, and whether it still runs. */
export interface JobReport extends ShownOutput, Granted {
  readonly job: string
  /** Absent while it runs. */
  readonly end?: CommandEnd
  readonly runningMs: number
}

declare module '@sluice/session' {
  interface SessionEventMap {
    'shell/job-ended': { job: string; callId: string; command: string } & CommandEnd
  }
}
