/** Owns what tests of the file tools start from: a composition of tools and files that allows every call. */
import * as fsPlugin from '@sluice/fs'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import { type SimWorldOptions, simWorld, type SimWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import type { SettledCall } from '@sluice/tools'
import { Context, type Fiber } from 'cordis'
import * as toolFs from '../src/index.ts'

export interface Setup {
  readonly ctx: Context
  /** Of the file tools. */
  readonly fiber: Fiber
  readonly world: SimWorld
  readonly session: Session
  readonly run: (tool: string, args: Record<string, unknown>) => Promise<SettledCall>
  /** The text that a model reads. */
  readonly text: (tool: string, args: Record<string, unknown>) => Promise<string>
}

export async function setup(files: SimWorldOptions['files'] = {}): Promise<Setup> {
  const world = simWorld({ files, autoAdvance: true })
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin, {})
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  await ctx.plugin(fsPlugin, {})
  const fiber = await ctx.plugin(toolFs, {})
  const session = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const run: Setup['run'] = (tool, args) =>
    ctx.tools.execute({ session, call: { id: `c${++count}`, tool, arguments: args as never } })
  const text: Setup['text'] = async (tool, args) => {
    const { result } = await run(tool, args)
    return result.content.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n')
  }
  return { ctx, fiber, world, session, run, text }
}
