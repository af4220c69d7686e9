/** Owns the failures of code mode. */
import { defineErrors } from '@sluice/base'
import type { CodeFailureKind } from './types.ts'

export const codeModeErrors = defineErrors({
  CODE_FAILED: {
    when: 'a program does not end with a value',
    message: (d: { kind: CodeFailureKind; message: string; line?: number; output: readonly string[] }) => d.message,
    remedy: 'Read the kind and the message; calls that had been made are not undone.',
  },
  CODE_MODE_TAKEN: {
    when: 'two plugins set the mode of one agent',
    message: (d: { agent: string }) => `the mode of ${d.agent} is already set`,
    remedy: 'Let one plugin set it.',
  },
})
