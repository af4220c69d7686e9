/** Owns calls of the tools that touch files as a model makes them: every policy of files is mounted, every call is allowed. */
import type { JsonObject, World } from '@sluice/base'
import * as approval from '@sluice/approval'
import * as fs from '@sluice/fs'
import * as outputLimit from '@sluice/output-limit'
import * as readBeforeEdit from '@sluice/read-before-edit'
import * as session from '@sluice/session'
import { worldPlugin } from '@sluice/testkit'
import * as toolFs from '@sluice/tool-fs'
import * as toolSearch from '@sluice/tool-search'
import * as toolShell from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import * as workspace from '@sluice/workspace'
import { Context } from 'cordis'

export async function fileTools(world: World, cwd: string) {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(session.memoryStorePlugin)
  await ctx.plugin(session)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(approval)
  for (const plugin of [fs, workspace, readBeforeEdit, outputLimit, toolFs, toolSearch]) await ctx.plugin(plugin)
  await ctx.plugin(toolShell)
  const own = await ctx.sessions.create({ cwd })
  let count = 0
  /** The text that the model reads; a call that fails says so first. */
  const call = async (tool: string, args: JsonObject): Promise<string> => {
    const request = { id: `c${++count}`, tool, arguments: args }
    const { outcome, content } = (await ctx.tools.execute({ session: own, call: request })).result
    const text = content.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n')
    return outcome.tag === 'succeeded' ? text : `${outcome.tag}: ${text}`
  }
  const edit = (path: string, oldText: string, newText: string) => call('edit', { path, edits: [{ oldText, newText }] })
  return { ctx, session: own, call, edit, close: () => ctx.fiber.dispose() }
}
