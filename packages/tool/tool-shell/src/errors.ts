/** Owns the failures of the shell tool. */
import { defineErrors } from '@sluice/base'
import { notStarted } from './prompt.ts'

export const shellErrors = defineErrors({
  SHELL_NOT_STARTED: {
    when: 'the shell cannot be started: it is missing, the working folder is gone, or the command is too long',
    message: (d: { shell: string; cwd: string; problem: string }) => notStarted(d.shell, d.cwd, d.problem),
    remedy: 'Check that the working folder exists and that the shell named in the configuration is installed.',
  },
})
