/** Mounts approval as `ctx.approval`. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { ApprovalService } from './service.ts'

export const name = 'approval'
export const inject = ['world', 'sessions']
export const provide = 'approval'

export interface Config {
  expiryMs: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  expiryMs: z
    .natural()
    .default(0)
    .description('Time after which an unanswered question counts as unavailable; 0 waits for ever.'),
})

export function apply(ctx: Context, config: Config): void {
  new ApprovalService(ctx, config.expiryMs)
}
