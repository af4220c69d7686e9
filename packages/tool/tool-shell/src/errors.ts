/** Owns the failures of the shell tools. */
import { defineErrors } from '@sluice/base'
import { notStarted, tooManyJobs, unknownJob } from './prompt.ts'

export const shellErrors = defineErrors({
  SHELL_NOT_STARTED: {
    when: 'the shell cannot be started: it is missing, the working folder is gone, or the command is too long',
    message: (d: { shell: string; cwd: string; problem: string }) => notStarted(d.shell, d.cwd, d.problem),
    remedy: 'Check that the working folder exists and that the shell named in the configuration is installed.',
  },
  SHELL_JOB_UNKNOWN: {
    when: 'a job is asked for that this session does not have: it is of another session, was forgotten, or ended with its host',
    message: (d: { job: string; known: readonly string[] }) => unknownJob(d.job, d.known),
    remedy: 'Give the id that bash returned in this session since it was opened.',
  },
  SHELL_JOBS_TOO_MANY: {
    when: 'a background job would be one more than a session may have at once',
    message: (d: { max: number }) => tooManyJobs(d.max),
    remedy: 'End a job that is no longer needed.',
  },
})
