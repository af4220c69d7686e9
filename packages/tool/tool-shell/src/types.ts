/** Owns the words of a shell command. */

/** What one command came to. */
export interface CommandResult {
  /** Standard output and standard error as they came, bounded: head, a note of what was left out, tail. */
  readonly output: string
  /** Characters left out of the middle. */
  readonly omitted: number
  /** `null` when a signal ended the shell. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly ended: 'exited' | 'timed-out' | 'aborted'
  readonly durationMs: number
  /** Processes of the command that outlived its shell: none, ended with it, or still there after everything was tried. */
  readonly survivors: 'none' | 'ended' | 'alive'
}
