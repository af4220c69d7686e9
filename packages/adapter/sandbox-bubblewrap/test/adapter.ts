/** Owns the adapter as it is mounted, for tests that call it directly. */
import type { World } from '@sluice/base'
import type { SandboxAdapter } from '@sluice/sandbox'
import { Context } from 'cordis'
import * as bubblewrap from '../src/index.ts'

export async function adapterOn(world: World, config: Partial<bubblewrap.Config> = {}) {
  const ctx = new Context()
  let adapter: SandboxAdapter | undefined
  ctx.provide('world', world)
  ctx.provide('sandbox', { adapter: (given: SandboxAdapter) => void (adapter = given) } as never)
  const fiber = await ctx.plugin(bubblewrap, config)
  return { adapter: adapter as unknown as SandboxAdapter, dispose: () => fiber.dispose() }
}
