/** Owns the bench of this package's tests: the tool on the real World, in a folder of its own. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json } from '@sluice/base'
import * as session from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import { worldPlugin } from '@sluice/testkit'
import * as shell from '@sluice/tool-shell'
import type { CommandResult } from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'

export interface BenchOptions {
  readonly config?: Partial<shell.Config>
  readonly env?: Record<string, string>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (output: string) => void
  /** Instead of the session of the bench. */
  readonly session?: Session
}

export async function makeBench({ config = {}, env }: BenchOptions = {}) {
  const ctx = new Context()
  const world = nodeWorld()
  const host = env ? { ...world.host, env: { PATH: world.host.env.PATH, ...env } } : world.host
  await ctx.plugin(worldPlugin({ ...world, host }))
  for (const plugin of [memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  const fiber = await ctx.plugin(shell, config)
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'sluice-shell-')))
  const own = await ctx.sessions.create({ cwd })
  let count = 0
  const call = async (tool: string, args: Record<string, Json>, options: CallOptions = {}) => {
    const { signal, onProgress, session: at = own } = options
    const settled = await ctx.tools.execute({
      session: at,
      call: { id: `c${++count}`, tool, arguments: args },
      ...(signal && { signal }),
      onProgress: (_, update) => onProgress?.((update as { output: string }).output),
    })
    const { content, value, outcome } = settled.result
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return { settled, text, outcome, value }
  }
  return {
    ctx,
    world,
    fiber,
    cwd,
    session: own,
    call,
    async bash(args: string | Record<string, Json>, options: CallOptions = {}) {
      const { value, ...rest } = await call('bash', typeof args === 'string' ? { command: args } : args, options)
      return { ...rest, value: value as unknown as CommandResult }
    },
    async close() {
      await ctx.fiber.dispose()
      world.dispose()
      await rm(cwd, { recursive: true, force: true })
    },
  }
}

export type Bench = Awaited<ReturnType<typeof makeBench>>
