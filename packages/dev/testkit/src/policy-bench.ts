/** Owns the bench of a policy's tests: tools with the policy and a probe, and one session in memory. */
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import * as toolsPlugin from '@sluice/tools'
import type { SettledCall } from '@sluice/tools'
import { Context, type Fiber, type Plugin } from 'cordis'
import { type ProbeOptions, type ProbeTool, probeTool } from './probe.ts'
import { type SimWorld, simWorld, worldPlugin } from './world.ts'

export interface PolicyBench {
  readonly ctx: Context
  readonly world: SimWorld
  readonly session: Session
  readonly probe: ProbeTool
  readonly policy: Fiber
  plugin(name: string, apply: (ctx: Context) => void): Promise<Fiber>
  /** Runs one call of the probe, or of another tool. */
  call(args?: object, options?: { tool?: string; signal?: AbortSignal }): Promise<SettledCall>
}

/** Mounts `policy` with its configuration; `tools` is configuration of the tools plugin, where `otherwise` is `allow`. */
export async function policyBench(
  policy: Plugin,
  config: object = {},
  probed: ProbeOptions = {},
  tools: object = {},
): Promise<PolicyBench> {
  const world = simWorld({ autoAdvance: true })
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow', ...tools })
  const fiber = (await ctx.plugin(policy, config as never)) as unknown as Fiber
  const probe = probeTool(probed)
  const plugin = async (name: string, apply: (own: Context) => void) =>
    (await ctx.plugin({ name, inject: ['tools'], apply })) as unknown as Fiber
  await plugin('tool-probe', (own) => void own.tools.register(probe.definition))
  const session = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  return {
    ctx,
    world,
    session,
    probe,
    policy: fiber,
    plugin,
    call: (args = {}, { tool = 'probe', ...rest } = {}) =>
      ctx.tools.execute({ session, call: { id: `c${++count}`, tool, arguments: args as never }, ...rest }),
  }
}
