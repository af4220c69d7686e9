/** Mounts QuickJS as `ctx.codeRuntime`. */
import type { CodeRuntime } from '@sluice/code-mode'
import type { Context } from 'cordis'
import z from 'schemastery'
import { Pool } from './pool.ts'
import { QuickRun } from './run.ts'

export const name = 'code-quickjs'
export const provide = 'codeRuntime'

export interface Config {
  keepMax: number
  threadsMax: number
}

export const Config: z<Partial<Config>, Config> = z.object({
  keepMax: z.natural().default(2).description('Threads kept for the next run.'),
  threadsMax: z.natural().min(1).default(8).description('Programs that run at once; further ones wait.'),
})

export function apply(ctx: Context, config: Config): void {
  const pool = new Pool(config.keepMax, config.threadsMax)
  const runtime: CodeRuntime = { kind: 'quickjs', run: (request) => new QuickRun(pool, request) }
  ctx.effect(() => () => pool.close(), 'code threads')
  ctx.provide('codeRuntime', runtime)
}
