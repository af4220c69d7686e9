/** Owns how sessions are mounted. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { SessionsService } from './sessions.ts'

export const name = 'session'
export const inject = ['world', 'sessionStore']
export const provide = ['sessions']

const INLINE_BYTES_MAX = 32 * 1024

export interface Config {
  /** Longest JSON of a tool value that stays in its event, in bytes; longer ones become blobs. */
  inlineBytesMax?: number
}
export const Config: z<Config> = z.object({
  inlineBytesMax: z
    .number()
    .min(0)
    .default(INLINE_BYTES_MAX)
    .description('Bytes of JSON of a tool value that stay in its event; a longer one becomes a blob.'),
})

export function apply(ctx: Context, config: Config): void {
  ctx.effect(function* () {
    const sessions = new SessionsService(ctx, { inlineBytesMax: config.inlineBytesMax ?? INLINE_BYTES_MAX })
    // Runs last: whoever uses sessions is gone by then and has written its last events.
    yield () => sessions.closeAll()
    yield ctx.provide('sessions', sessions)
  }, 'sessions')
}
