import type { JsonObject } from '@sluice/base'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type ProgramHandler, simWorld, type SimWorld, worldPlugin } from '@sluice/testkit'
import * as shell from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

async function mount(world: SimWorld) {
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(shell)
  const own = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const execute = async (tool: string, args: JsonObject, signal?: AbortSignal) => {
    const call = { id: `c${++count}`, tool, arguments: args }
    return (await ctx.tools.execute({ session: own, call, ...(signal && { signal }) })).result
  }
  return { execute }
}

/** One call of a shell that does what the test says. */
async function call(handler: ProgramHandler, signal?: AbortSignal) {
  const world = simWorld({ autoAdvance: true })
  world.processes.on('bash', handler)
  const { execute } = await mount(world)
  const result = await execute('bash', { command: 'x' }, signal)
  return { result, value: result.value as unknown as shell.CommandResult, world }
}

test('an abort while the shell starts ends it', async () => {
  const controller = new AbortController()
  const { value, world } = await call(() => controller.abort(), controller.signal)
  expect(value).toMatchObject({ ended: 'aborted', signal: 'SIGTERM' })
  expect(world.processes.alive).toEqual([])
})

test('a command that becomes a crowd is not asked to end, which would give it time to grow', async () => {
  const { value, world } = await call((_, program) => program.populate(1_001))
  expect(value).toMatchObject({ ended: 'crowded', signal: 'SIGKILL' })
  expect(world.processes.started[0]?.signals).toEqual(['SIGKILL'])
})

test('a thousand processes are no crowd', async () => {
  const { value } = await call((_, program) => {
    program.populate(1_000)
    return { afterMs: 10_000 }
  })
  expect(value).toMatchObject({ ended: 'exited', exitCode: 0 })
})

test('a group that cannot be ended is told of', async () => {
  const { value, result, world } = await call((_, program) => {
    program.onSignal(() => {})
    program.stdout('stuck')
  })
  // The simulated shell dies of SIGKILL; until then it had its time after SIGTERM.
  expect(value).toMatchObject({ ended: 'timed-out', signal: 'SIGKILL', output: 'stuck' })
  expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('stuck\n[timed out') as string }])
  expect(world.processes.started[0]?.signals).toEqual(['SIGTERM', 'SIGKILL'])
})

test('a call leaves no timer behind', async () => {
  const { world } = await call(() => ({ stdout: 'a' }))
  expect(world.clock.pending).toBe(0)
})

test('an abort ends the wait for a job and leaves no timer, and the job runs on', async () => {
  const world = simWorld({ autoAdvance: true })
  world.processes.on('bash', () => {})
  const { execute } = await mount(world)
  const job = (await execute('bash', { command: 'x', background: true })).value as unknown as shell.JobStarted
  const before = world.clock.pending
  const controller = new AbortController()
  world.clock.timer(10, () => controller.abort(new Error('stop')))
  const { outcome } = await execute('bash_output', { ...job, waitMs: 60_000 }, controller.signal)
  expect(outcome.tag).toBe('succeeded')
  expect(world.clock.pending).toBe(before)
  expect(world.processes.alive).toHaveLength(1)
})
