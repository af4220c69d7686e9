/** Owns how files are mounted. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { fsLogEvents } from './events.ts'
import { observations } from './observations.ts'
import { recentChanges } from './recent-changes.ts'
import { FsService } from './service.ts'

export const name = 'fs'
export const inject = ['world', 'sessions']
export const provide = ['fs']

export interface Config {}
export const Config: z<Config> = z.object({})

export function apply(ctx: Context): void {
  ctx.sessions.define(fsLogEvents)
  ctx.sessions.registerFold(observations)
  ctx.sessions.registerFold(recentChanges)
  ctx.provide('fs', new FsService(ctx))
}
