import * as approval from '@sluice/approval'
import type { Answer } from '@sluice/approval'
import type { SpawnOptions } from '@sluice/base'
import * as sandbox from '@sluice/sandbox'
import type { Sandbox } from '@sluice/sandbox'
import * as sandboxPolicy from '@sluice/sandbox-policy'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { probeTool, simWorld, worldPlugin } from '@sluice/testkit'
import * as tools from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

interface Setup {
  readonly config?: Parameters<typeof sandbox.Config>[0]
  readonly confines?: boolean
  readonly answer?: Answer['kind']
}

async function setup({ config = {}, confines = true, answer }: Setup = {}) {
  const world = simWorld({ autoAdvance: true })
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(approval)
  const fiber = await ctx.plugin(sandbox, config)
  await ctx.plugin(sandboxPolicy)
  const state = confines
    ? ({ available: true, detail: 'walls' } as const)
    : ({ available: false, why: 'walls are not installed', remedy: 'Install walls.' } as const)
  const walls = {
    name: 'walls',
    check: async () => state,
    spawn: (options: SpawnOptions) => world.processes.spawn(options),
  }
  const apply = (own: { sandbox: Sandbox }) => void own.sandbox.adapter(walls)
  await ctx.plugin({ name: 'walls', inject: ['sandbox'], apply: apply as never })
  const questions: string[] = []
  if (answer) {
    ctx.approval.answerer('person', ({ callId, text }) => {
      questions.push(text)
      return { callId, kind: answer } as Answer
    })
  }
  world.processes.on('x', () => ({}))
  const start = probeTool({
    name: 'start',
    annotations: { startsProcesses: true },
    body: async (args, run) => {
      const options = { file: 'x', args: [], cwd: '/proj', env: {} }
      const child = await ctx.sandbox.spawn(options, { ...run, wants: sandbox.wantsOf(args) })
      return (await child.exited).code
    },
  })
  ctx.tools.register(start.definition)
  ctx.tools.register(probeTool({ name: 'look' }).definition)
  const own = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const call = async (tool: string, args: object = {}) => {
    const request = { id: `c${++count}`, tool, arguments: args as never }
    const { result } = await ctx.tools.execute({ session: own, call: request })
    return { ...result.outcome, content: result.content }
  }
  return { ctx, world, call, questions, fiber }
}

test('a call within the sandbox is left to the other policies', async () => {
  const { call, ctx } = await setup()
  expect(await call('start')).toMatchObject({ tag: 'succeeded' })
  ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'not here' }))
  expect(await call('start')).toMatchObject({ tag: 'denied', reason: 'not here' })
})

test('a tool that starts no processes is left alone', async () => {
  const { call } = await setup({ confines: false })
  expect(await call('look', { unconfined: true })).toMatchObject({ tag: 'succeeded' })
})

test('where nothing confines, a call that starts processes is asked about, and runs when a person allows it', async () => {
  const { call, questions, world } = await setup({ confines: false, answer: 'allow-once' })
  expect(await call('start')).toMatchObject({ tag: 'succeeded' })
  expect(questions).toEqual([expect.stringContaining('no sandbox confines the process: walls are not installed')])
  expect(world.processes.started).toHaveLength(1)
  const refused = await setup({ confines: false, answer: 'reject' })
  expect(await refused.call('start')).toMatchObject({ tag: 'denied' })
  expect(refused.world.processes.started).toEqual([])
})

// BUG-036
test('where nobody answers, such a call is denied', async () => {
  const { call, world } = await setup({ confines: false })
  expect(await call('start')).toMatchObject({ tag: 'denied' })
  expect(world.processes.started).toEqual([])
})

test('a call that wants more than the sandbox gives is asked about, with what it wants', async () => {
  const { call, questions } = await setup({ config: { hosts: ['a.org'] }, answer: 'allow-once' })
  for (const args of [{ hosts: ['a.org'] }, { hosts: ['b.org'] }, { unconfined: true }])
    expect(await call('start', args)).toMatchObject({ tag: 'succeeded' })
  expect(questions).toEqual([
    expect.stringContaining('it wants to reach b.org over the network'),
    expect.stringContaining('it wants to run outside of the sandbox'),
  ])
})

test('where nothing may run without a sandbox, a call is denied with what to install', async () => {
  const { call, questions } = await setup({ config: { unavailable: 'refuse' }, confines: false, answer: 'allow-once' })
  const { tag, content } = await call('start')
  expect([tag, JSON.stringify(content)]).toEqual([
    'denied',
    expect.stringMatching(/walls are not installed\..*Install walls\./),
  ])
  expect(questions).toEqual([])
})

test('when the sandbox is unloaded no call is permitted', async () => {
  const { call, fiber } = await setup({ answer: 'allow-once' })
  await fiber.dispose()
  expect(await call('look')).toMatchObject({
    tag: 'denied',
    reason: expect.stringContaining('sandbox-policy') as string,
  })
})
