/** Owns the bench of this package's tests: the tools on the real World, in a workspace of their own. */
import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '@sluice/base'
import * as fs from '@sluice/fs'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { worldPlugin } from '@sluice/testkit'
import * as search from '@sluice/tool-search'
import type { GlobValue, GrepValue } from '@sluice/tool-search'
import * as tools from '@sluice/tools'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'

/** Files by path in the order of their age: the first is the oldest. */
export type Files = Readonly<Record<string, string | Uint8Array>>

export async function makeBench(files: Files = {}) {
  const ctx = new Context()
  const world = nodeWorld()
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'sluice-search-')))
  const cwd = join(outside, 'workspace')
  await mkdir(cwd)
  // Without a home no ignore file of whoever runs the tests counts.
  await ctx.plugin(worldPlugin({ ...world, host: { ...world.host, env: { HOME: join(outside, 'home') } } }))
  for (const plugin of [memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(fs)
  const fiber = await ctx.plugin(search)
  const own = await ctx.sessions.create({ cwd })
  let age = 0
  let count = 0
  const add = async (more: Files) => {
    for (const [path, content] of Object.entries(more)) {
      const file = join(cwd, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, content)
      const seconds = 1_600_000_000 + ++age
      await utimes(file, seconds, seconds)
    }
  }
  await add(files)
  const call = async (tool: string, args: Record<string, Json>, signal?: AbortSignal) => {
    const settled = await ctx.tools.execute({
      session: own,
      call: { id: `c${++count}`, tool, arguments: args },
      ...(signal && { signal }),
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
    outside,
    session: own,
    add,
    call,
    glob: async (args: string | Record<string, Json>, signal?: AbortSignal) => {
      const { value, ...rest } = await call('glob', typeof args === 'string' ? { pattern: args } : args, signal)
      return { ...rest, value: value as unknown as GlobValue }
    },
    grep: async (args: string | Record<string, Json>, signal?: AbortSignal) => {
      const { value, ...rest } = await call('grep', typeof args === 'string' ? { pattern: args } : args, signal)
      return { ...rest, value: value as unknown as GrepValue }
    },
    async close() {
      await ctx.fiber.dispose()
      world.dispose()
      await rm(outside, { recursive: true, force: true })
    },
  }
}

export type Bench = Awaited<ReturnType<typeof makeBench>>
