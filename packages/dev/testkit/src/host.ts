/** Owns a small host for tests of plugins: a simulated World, sessions in memory, and a look at what a plugin leaves. */
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import { Context, type Plugin } from 'cordis'
import { type SimWorld, simWorld, worldPlugin } from './world.ts'

export type { PolicyBench } from './policy-bench.ts'
export { policyBench } from './policy-bench.ts'

export interface SimHost {
  readonly ctx: Context
  readonly world: SimWorld
  readonly session: Session
  /** Unmounts everything. */
  dispose(): Promise<void>
}

/** A context with `world`, `sessionStore` and `sessions`, and one session in `/proj`. */
export async function simHost(world: SimWorld = simWorld()): Promise<SimHost> {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin)
  return {
    ctx,
    world,
    session: await ctx.sessions.create({ cwd: '/proj' }),
    dispose: () => ctx.fiber.dispose(),
  }
}

/** Mounts a plugin, unmounts it, and names everything that it left: services, listeners, tools, event types, timers,
 *  processes, open files. Empty for a plugin that leaves nothing behind. `use` may exercise it meanwhile. */
export async function leftBehind<T>(
  { ctx, world }: Pick<SimHost, 'ctx' | 'world'>,
  plugin: Plugin<T>,
  config: T,
  use: (ctx: Context) => unknown = () => {},
): Promise<string[]> {
  const before = picture(ctx, world)
  const fiber = await ctx.plugin(plugin, config as never)
  await use(fiber.ctx)
  await fiber.dispose()
  const left: string[] = []
  for (const [thing, count] of picture(ctx, world)) {
    const more = count - (before.get(thing) ?? 0)
    if (more > 0) left.push(more === 1 ? thing : `${thing} (${more} times)`)
  }
  return left.sort()
}

/** How often each thing is there. */
function picture(ctx: Context, world: SimWorld): Map<string, number> {
  const things = new Map<string, number>()
  const count = (thing: string, times = 1) => void things.set(thing, (things.get(thing) ?? 0) + times)
  for (const key of Object.getOwnPropertySymbols(ctx.reflect.store)) {
    const service = ctx.reflect.store[key]
    if (service) count(`service ${service.name}`)
  }
  for (const [event, hooks] of Object.entries(ctx.events._hooks)) count(`listener ${event}`, [...hooks].length)
  for (const { name } of ctx.get('tools')?.visible() ?? []) count(`tool ${name}`)
  for (const { type } of ctx.get('sessions')?.types() ?? []) count(`event type ${type}`)
  count('timer', world.clock.pending)
  count('process', world.processes.alive.length)
  count('open file', world.disk.openFiles)
  return things
}
