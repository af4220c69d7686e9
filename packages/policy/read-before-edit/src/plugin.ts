/** Owns how the policy takes part: it answers the intents of files and nothing else. */
import { required } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { editVerdict, writeVerdict } from './seen.ts'

export const name = 'read-before-edit'
export const inject = ['fs']

export interface Config {}
export const Config: z<Config> = z.object({})

export const apply = required((ctx: Context): void => {
  ctx.on('fs/edit-intent', (intent) => editVerdict(intent))
  ctx.on('fs/write-intent', (intent) => writeVerdict(intent))
})
