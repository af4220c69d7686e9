/** Owns how the file tools are mounted. */
import type { Context } from 'cordis'
import z from 'schemastery'
import { editTool, listTool, readTool, writeTool } from './tools.ts'

export const name = 'tool-fs'
export const inject = ['tools', 'fs']

export interface Config {}
export const Config: z<Config> = z.object({})

export function apply(ctx: Context): void {
  const { tools, fs } = ctx
  tools.register(readTool(fs))
  tools.register(writeTool(fs))
  tools.register(editTool(fs))
  tools.register(listTool(fs))
}
