/** Owns how sessions are mounted. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { SessionsService } from './sessions.ts'

export const name = 'session'
export const inject = ['world', 'sessionStore']
export const provide = ['sessions']

export interface Config {}
export const Config: z<Config> = z.object({})

export function apply(ctx: Context): void {
  ctx.effect(function* () {
    const sessions = new SessionsService(ctx)
    // Runs last: whoever uses sessions is gone by then and has written its last events.
    yield () => sessions.closeAll()
    yield ctx.provide('sessions', sessions)
  }, 'sessions')
}
