/** Owns a composition of the tools that touch files and programs, with nothing that would decide about their calls. */
import type { Json, JsonObject } from '@sluice/base'
import * as fs from '@sluice/fs'
import * as session from '@sluice/session'
import * as toolFs from '@sluice/tool-fs'
import * as toolSearch from '@sluice/tool-search'
import * as toolShell from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import * as world from '@sluice/world-node'
import { Context, type Plugin } from 'cordis'

const before: readonly Plugin.Object<void>[] = [world] as never
const after: readonly Plugin.Object<void>[] = [fs, toolFs, toolSearch, toolShell] as never

/** Mounts where sessions are kept. */
export type MountStore = (ctx: Context) => PromiseLike<unknown>

const inMemory: MountStore = (ctx) => ctx.plugin(session.memoryStorePlugin)

/** Runs one call and resolves to its value; rejects when it did not succeed. */
export type CallTool = (tool: string, args: JsonObject) => Promise<Json | undefined>

export async function mountTools(cwd: string, store = inMemory): Promise<CallTool> {
  const ctx = new Context()
  for (const plugin of before) await ctx.plugin(plugin)
  await store(ctx)
  await ctx.plugin(session, {})
  await ctx.plugin(tools, { otherwise: 'allow' })
  for (const plugin of after) await ctx.plugin(plugin)
  const own = await ctx.sessions.create({ cwd })
  // Whoever calls tools holds the service: asking the context for it takes as long as the call.
  const { tools: service } = ctx
  let count = 0
  return async (tool, args) => {
    const call = { id: `c${++count}`, tool, arguments: args }
    const { result } = await service.execute({ session: own, call })
    if (result.outcome.tag !== 'succeeded') throw new Error(`${tool}: ${JSON.stringify(result.content)}`)
    return result.value
  }
}
