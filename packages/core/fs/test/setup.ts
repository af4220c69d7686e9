/** Owns what tests of files start from: a simulated World, a session in memory, and `ctx.fs`. */
import type { World } from '@sluice/base'
import * as sessionPlugin from '@sluice/session'
import type { Session } from '@sluice/session'
import { type SimWorld, type SimWorldOptions, simWorld, worldPlugin } from '@sluice/testkit'
import { Context } from 'cordis'
import * as fsPlugin from '../src/index.ts'
import type { FsContext } from '../src/index.ts'

export interface Setup {
  readonly ctx: Context
  readonly world: SimWorld
  readonly session: Session
  /** The context of one call; a new id each time unless given. */
  readonly call: (id?: string) => FsContext
}

export async function setup(options: SimWorldOptions = {}): Promise<Setup> {
  const world = simWorld(options)
  const ctx = await mounted(world)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  let calls = 0
  return { ctx, world, session, call: (id = `call-${++calls}`) => ({ session, call: { id, tool: 'test' } }) }
}

export async function mounted(world: World): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(sessionPlugin.memoryStorePlugin)
  await ctx.plugin(sessionPlugin, {})
  await ctx.plugin(fsPlugin, {})
  return ctx
}
