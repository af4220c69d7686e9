/** Owns the wiring of the search tools. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { globTool, grepTool } from './tools.ts'

export const name = 'tool-search'
export const inject = ['tools', 'fs', 'world']

export interface Config {}
export const Config: z<Config> = z.object({})

export function apply(ctx: Context): void {
  const { tools, fs, world } = ctx
  tools.register(globTool({ fs, world }))
  tools.register(grepTool({ fs, world }))
}
