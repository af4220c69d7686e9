/** Mounts the tool registry and the pipeline as `ctx.tools`. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { usedCallIds } from './call-ids.ts'
import { ToolsService } from './service.ts'

export const name = 'tools'
export const inject = ['world', 'sessions']
export const provide = 'tools'

export interface Config {
  otherwise: 'ask' | 'allow' | 'deny'
  /** Entries of the composition, or names of plugins that code mounted at the root. */
  mayAllow: string[]
  listenerTimeoutMs: number
  listenerTimeouts: Record<string, number>
  graceMs: number
  parallelMax: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  otherwise: z
    .union(['ask', 'allow', 'deny'] as const)
    .default('ask')
    .description('Verdict when every listener abstains.'),
  mayAllow: z
    .array(z.string())
    .default(['permissions', 'hooks'])
    .description('Entries of the composition whose allow counts, by id; `@sluice/` may be left out.'),
  listenerTimeoutMs: z
    .natural()
    .min(1)
    .default(60_000)
    .description('Time of one listener, without its waits in next().'),
  listenerTimeouts: z.dict(z.natural().min(1)).default({}).description('The same for single events.'),
  graceMs: z.natural().min(1).default(2_000).description('Time to settle after an abort or a deadline.'),
  parallelMax: z.natural().min(1).default(10).description('Bodies of one session that run at once.'),
})

export function apply(ctx: Context, config: Config): void {
  ctx.sessions.registerFold(usedCallIds)
  new ToolsService(ctx, config)
}
