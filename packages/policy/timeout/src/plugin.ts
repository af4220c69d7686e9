/** Wraps `tools/execute` with a deadline: by configuration, by the definition, or the default. */
import { type Attempt, bare, type Call, type ExecuteRun, required } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'

export const name = 'timeout'
export const inject = ['tools']

export interface Config {
  defaultMs: number
  tools: Record<string, number>
}

export const Config: z<Partial<Config>, Config> = z.object({
  defaultMs: z.natural().min(1).default(120_000).description('Deadline of calls whose tool asks for none.'),
  tools: z.dict(z.natural().min(1)).default({}).description('Deadline by tool name; overrides what the tool asks for.'),
})

/** The deadline of a call in ms. */
export function deadlineOf(config: Config, call: Pick<Call, 'tool' | 'timeoutMs'>): number {
  const configured = Object.hasOwn(config.tools, call.tool) ? config.tools[call.tool] : undefined
  const { timeoutMs } = call
  // A tool cannot ask for no deadline at all.
  const wanted = timeoutMs !== undefined && Number.isFinite(timeoutMs) && timeoutMs > 0 ? timeoutMs : undefined
  return configured ?? wanted ?? config.defaultMs
}

export const apply = required((ctx: Context, config: Config): void => {
  const wrapper = bare((call: Call, run: ExecuteRun, next: () => Promise<Attempt>) => {
    run.deadline(deadlineOf(config, call))
    return next()
  })
  // Outermost, so that tries and the pauses between them count too.
  ctx.on('tools/execute', wrapper, { order: -100 })
})
