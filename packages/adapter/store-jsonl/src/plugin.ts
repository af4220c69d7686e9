/** Owns how the store is mounted. */
import { resolve } from 'node:path'
import type { Context } from 'cordis'
import z from 'schemastery'
import { defaultRoot } from './layout.ts'
import { jsonlStore } from './store.ts'

export const name = 'store-jsonl'
export const inject = ['world']
export const provide = ['sessionStore']

export interface Config {
  /** Folder of sessions. Default: `sluice/sessions` in the XDG data folder. */
  dir?: string
}
export const Config: z<Config> = z.object({
  dir: z.string().description('Folder that holds one folder per session.'),
})

export function apply(ctx: Context, config: Config): void {
  const root = config.dir === undefined ? defaultRoot(ctx.world.host) : resolve(config.dir)
  ctx.provide('sessionStore', jsonlStore(ctx.world, root))
}
