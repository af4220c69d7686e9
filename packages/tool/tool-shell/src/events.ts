/** Owns the session events of the shell tools. */
import type { EventTable } from '@sluice/session'
import { Type } from 'typebox'

export const shellEvents = {
  'shell/job-ended': {
    version: 1,
    meaning: 'A background job has ended: by itself, by its limit, by bash_kill, or with the session.',
    schema: Type.Object({
      job: Type.String(),
      callId: Type.String(),
      command: Type.String(),
      exitCode: Type.Union([Type.Integer(), Type.Null()]),
      signal: Type.Union([Type.String(), Type.Null()]),
      ended: Type.Enum(['exited', 'timed-out', 'aborted', 'crowded']),
      durationMs: Type.Number({ minimum: 0 }),
      survivors: Type.Enum(['none', 'ended', 'alive']),
    }),
  },
} satisfies EventTable
