/** Owns the failures of the sandbox. */
import { defineErrors } from '@sluice/base'
import { notAgreedText } from './prompt.ts'

export const sandboxErrors = defineErrors({
  SANDBOX_TAKEN: {
    when: 'a second adapter is mounted',
    message: (d: { adapter: string; mounted: string }) =>
      `the sandbox ${d.adapter} cannot be mounted: ${d.mounted} is in force`,
    remedy: 'Keep one sandbox adapter in the composition.',
  },
  SANDBOX_NOT_AGREED: {
    when: 'a process wants more than the mode gives, and no person agreed to that for this call',
    message: (d: { reason: string }) => notAgreedText(d.reason),
    remedy: 'Mount @sluice/sandbox-policy, which asks before the call runs.',
  },
  SANDBOX_REFUSED: {
    when: 'no sandbox is in force and the configuration lets nothing run without one',
    message: (d: { reason: string }) => d.reason,
    remedy: 'Install what the sandbox needs, or change `unavailable` in the configuration of @sluice/sandbox.',
  },
})
