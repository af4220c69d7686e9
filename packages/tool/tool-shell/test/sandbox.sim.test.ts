import * as approval from '@sluice/approval'
import type { Answer } from '@sluice/approval'
import * as sandbox from '@sluice/sandbox'
import type { AdapterState, Confinement, SandboxAdapter } from '@sluice/sandbox'
import * as session from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type ProgramHandler, simWorld, worldPlugin } from '@sluice/testkit'
import * as shell from '@sluice/tool-shell'
import * as tools from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

const available: AdapterState = { available: true, detail: 'walls' }

/** The tools with a sandbox whose state the test says. */
async function setup(handler: ProgramHandler, state: AdapterState = available, answer?: Answer['kind']) {
  const world = simWorld({ autoAdvance: true, files: { '/proj/a': 'a' } })
  world.processes.on('bash', handler)
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, session]) await ctx.plugin(plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(approval)
  await ctx.plugin(sandbox)
  await ctx.plugin(shell)
  const held: Confinement[] = []
  const walls: SandboxAdapter = {
    name: 'walls',
    check: async () => state,
    spawn: (options, confinement) => {
      held.push(confinement)
      return world.processes.spawn(options)
    },
  }
  await ctx.plugin({ name: 'walls', inject: ['sandbox'], apply: (own: Context) => void own.sandbox.adapter(walls) })
  ctx.on('tools/pre-execute', async (call, next) => {
    const judgement = await ctx.sandbox.judge(sandbox.wantsOf(call.args))
    return answer && judgement.kind === 'ask' ? judgement : next()
  })
  if (answer) ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: answer }) as Answer)
  const own = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const call = async (args: object, tool = 'bash') => {
    const request = { id: `c${++count}`, tool, arguments: args as never }
    const { result, data } = await ctx.tools.execute({ session: own, call: request })
    const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    return { text, result, card: data.card, job: (result.value as { job?: string } | undefined)?.job }
  }
  return { world, held, call }
}

test('commands and jobs start in the sandbox, where one is mounted', async () => {
  const { held, call, world } = await setup(() => ({}))
  await call({ command: 'x' })
  await call({ command: 'x', background: true })
  expect(held).toMatchObject([{ workspace: ['/proj'] }, { workspace: ['/proj'] }])
  expect(world.processes.started).toHaveLength(2)
})

test('files that grant authority and that a command or a job has made are told to the model and to the person', async () => {
  let at = 0
  const { call, world } = await setup(async () => {
    await world.disk.mkdir(`/proj/deep/er/${++at}/.git`, { recursive: true })
    return { stdout: 'done\n' }
  })
  const note = (each: number) =>
    `[files that decide what may be done here, or what runs, are new: /proj/deep/er/${each}/.git. Later commands can only read them]`
  const { text, result, card } = await call({ command: 'x' })
  expect(text).toBe(`done\n${note(1)}`)
  expect(result.value).toMatchObject({ authority: { paths: ['/proj/deep/er/1/.git'], cut: false } })
  expect(card).toMatchObject({ output: `done\n${note(1)}` })
  const { job } = await call({ command: 'x', background: true })
  expect((await call({ job, waitMs: 1_000 }, 'bash_output')).text).toContain(note(2))
})

test('a name that looks like a note, or that moves the cursor of a terminal, is told as a name', async () => {
  const { call, world } = await setup(async () => {
    await world.disk.mkdir('/proj/a]\n[b\x1b[2J\u202e/.git', { recursive: true })
    return {}
  })
  const { text, card } = await call({ command: 'x' })
  const name = '/proj/a]\\u{a}[b\\u{1b}[2J\\u{202e}/.git'
  expect(text).toContain(`are new: ${name}. Later`)
  expect(card).toMatchObject({ output: text })
})

test('that not all folders could be looked into is told to the person, and is data', async () => {
  const { call, world } = await setup(() => ({ stdout: 'done\n' }))
  for (let i = 0; i < 5_000; i++) await world.disk.mkdir(`/proj/${i}`)
  const { text, result, card } = await call({ command: 'x' })
  expect(text).toBe('done')
  expect(result.value).toMatchObject({ authority: { paths: [], cut: true } })
  expect(card).toMatchObject({
    output: expect.stringMatching(/^done\n\[not all of the workspace could be looked into/) as string,
  })
})

test('a command that the sandbox kept from something says what it is held to, and how to ask for more', async () => {
  const { call } = await setup(() => ({ stderr: 'touch: x: Read-only file system\n', code: 1 }))
  const { text } = await call({ command: 'x' })
  expect(text).toMatchInlineSnapshot(`
    "touch: x: Read-only file system
    [exit code 1]
    [the command ran in a sandbox: only the workspace (the working folder, unless more is configured) and a /tmp of its own are writable, without the files that decide what may be done here; no network can be reached. If that is what kept it, ask for more with hosts or unconfined, or do without]"
  `)
  const { job } = await call({ command: 'x', background: true })
  expect((await call({ job }, 'bash_output')).text).toContain('ask for more with hosts or unconfined')
})

test('a command that failed for another reason, or did not fail, hears nothing of the sandbox', async () => {
  const failed = await setup(() => ({ stderr: 'x: command not found\n', code: 127 }))
  expect((await failed.call({ command: 'x' })).text).not.toContain('sandbox')
  const fine = await setup(() => ({ stdout: 'grep found: Permission denied\n' }))
  expect((await fine.call({ command: 'x' })).text).not.toContain('sandbox')
})

test('more than the sandbox gives is given to a call that a person allowed, and to no other', async () => {
  const refused: ProgramHandler = () => ({ stderr: 'Permission denied', code: 1 })
  const { call, held, world } = await setup(refused, available, 'allow-once')
  await call({ command: 'x', hosts: ['example.org:443'] })
  expect(held).toMatchObject([{ hosts: ['example.org:443'] }])
  const { text } = await call({ command: 'x', unconfined: true })
  expect([held.length, world.processes.started.length]).toEqual([1, 2])
  expect(text).not.toContain('sandbox')
  const unasked = await setup(refused)
  const { result } = await unasked.call({ command: 'x', unconfined: true })
  expect(result.outcome).toMatchObject({ tag: 'failed', code: 'SANDBOX_NOT_AGREED' })
  expect(unasked.world.processes.started).toEqual([])
})

test('a name that is no host is an invalid argument', async () => {
  const { call } = await setup(() => ({}))
  for (const host of ['', 'http://a.org', 'a b', '*']) {
    const { result } = await call({ command: 'x', hosts: [host] })
    expect(result.outcome.tag).not.toBe('succeeded')
  }
  for (const host of ['a.org', '*.a.org', 'a.org:443', '[::1]:80', 'x-y.localhost']) {
    const { result } = await call({ command: 'x', hosts: [host] })
    expect(result.outcome).toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
  }
})

test('a refusal of the sandbox is told as what it is', async () => {
  const { call } = await setup(() => ({}), {
    available: false,
    why: 'walls are not installed',
    remedy: 'Install walls.',
  })
  const { text } = await call({ command: 'x' })
  expect(text).toContain('no sandbox confines the process: walls are not installed, and no person agreed to that')
})
