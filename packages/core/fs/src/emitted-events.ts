/** Owns the Cordis events that `ctx.fs` asks by. */
import { type CallStage, defineEvents, waterfall } from '@sluice/tools'
import type { EditIntent, IntentVerdict, WriteIntent } from './types.ts'

const stage: CallStage = 'execute'

export const fsEvents = defineEvents('fs', {
  'fs/write-intent': waterfall<[intent: WriteIntent], IntentVerdict>(
    'Asked before a whole file is written, and again on the file as it is then; any deny wins.',
    stage,
  ),
  'fs/edit-intent': waterfall<[intent: EditIntent], IntentVerdict>(
    'Asked before a part of a file is changed; any deny wins.',
    stage,
  ),
})
