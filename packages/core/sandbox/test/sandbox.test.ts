import * as approvalPlugin from '@sluice/approval'
import type { Answer } from '@sluice/approval'
import type { Child, SpawnOptions } from '@sluice/base'
import * as sandbox from '@sluice/sandbox'
import type { AdapterState, Confinement, SandboxAdapter, Wants } from '@sluice/sandbox'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type FileSeed, simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

type Config = Parameters<typeof sandbox.Config>[0]

const options: SpawnOptions = { file: 'bash', args: ['-c', 'true'], cwd: '/proj', env: {} }

interface Setup {
  readonly config?: Config
  readonly files?: Record<string, FileSeed>
  /** What the check of the adapter says; without it no adapter is mounted. */
  readonly state?: AdapterState
  readonly answer?: Answer['kind']
}

async function setup({ config = {}, files = { '/proj/a': 'a' }, state, answer }: Setup = {}) {
  const world = simWorld({ files, autoAdvance: true })
  world.processes.on('bash', () => ({}))
  const ctx = new Context()
  for (const plugin of [worldPlugin(world), memoryStorePlugin, sessionPlugin]) await ctx.plugin(plugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  await ctx.plugin(approvalPlugin)
  await ctx.plugin(sandbox, config)
  if (answer) ctx.approval.answerer('person', ({ callId }) => ({ callId, kind: answer }) as Answer)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const held: Confinement[] = []
  const adapter: SandboxAdapter = {
    name: 'walls',
    check: () => (state ? Promise.resolve(state) : Promise.reject(new Error('no wall stands'))),
    async spawn(given, confinement): Promise<Child> {
      held.push(confinement)
      return world.processes.spawn(given)
    },
  }
  const mount = () =>
    ctx.plugin({ name: 'walls', inject: ['sandbox'], apply: (own: Context) => void own.sandbox.adapter(adapter) })
  const fiber = state && (await mount())
  /** Starts on behalf of a call that was asked about with the rules, if any. */
  let calls = 0
  const start = async (wants: Wants = {}, rules: readonly string[] = []) => {
    const callId = `c${++calls}`
    if (rules.length > 0) {
      const call = { id: callId, session, signal: new AbortController().signal } as never
      const asks = rules.map((rule) => ({ by: 'test', reason: 'test', rule }))
      await ctx.approval.ask({ call, card: { v: 1, kind: 'generic', title: 't' }, asks })
    }
    return ctx.sandbox.spawn(options, { session, callId, wants })
  }
  return { ctx, world, session, held, mount, fiber, start }
}

const available: AdapterState = { available: true, detail: 'walls 1.0' }
const missing: AdapterState = { available: false, why: 'walls are not installed', remedy: 'Install walls.' }

test('processes start confined to the folder of the session, and the status says by what', async () => {
  const { ctx, start, held, world } = await setup({ state: available })
  expect(await ctx.sandbox.status()).toEqual({ kind: 'confined', by: 'walls 1.0', mode: 'workspace-write', hosts: [] })
  expect(await ctx.sandbox.describe()).toBe('walls 1.0, workspace-write, network: none')
  await start()
  expect(held).toMatchObject([{ workspace: ['/proj'], access: 'write', hosts: [] }])
  expect(world.processes.started).toHaveLength(1)
})

test('read-only and further hosts and folders are configuration', async () => {
  const config = { mode: 'read-only' as const, hosts: ['example.org'], writable: ['/more', 'sub', '~/cache'] }
  const { ctx, start, held } = await setup({ config, state: available })
  await start()
  const home = ctx.world.host.homeDir
  expect(held).toMatchObject([{ access: 'read', workspace: ['/proj', '/more', '/proj/sub', `${home}/cache`] }])
  expect(await ctx.sandbox.describe()).toBe('walls 1.0, read-only, network: example.org')
})

// files.md 10
test('files that grant authority are protected, at any depth where they are, and at the top also where they are not', async () => {
  const files: Record<string, FileSeed> = {
    '/proj/.git/HEAD': 'x',
    '/proj/sluice.strict.yml': 'x',
    '/proj/packages/one/.claude/settings.json': 'x',
    '/proj/packages/two/.git/HEAD': 'x',
    '/proj/node_modules/x/.claude/settings.json': 'x',
    '/log/sessions/s': 'x',
    '/proj/1/2/3/.codex/x': 'x',
    '/proj/1/2/3/4/.codex/x': 'x',
    '/proj/link': { link: '/out' },
    '/out/.claude/x': 'x',
  }
  const { start, held } = await setup({ files, state: available, config: { protectedPaths: ['/log/sessions'] } })
  await start()
  const paths = ['sluice.yml', '.sluice', '.claude', '.codex', '.husky', 'sluice.strict.yml']
  const repository = (folder: string) =>
    ['config', 'hooks', 'commondir', 'config.worktree'].map((name) => `${folder}/${name}`)
  const nested = ['1/2/3/.codex', 'packages/one/.claude', ...repository('.git'), ...repository('packages/two/.git')]
  const expected = [...[...paths, ...nested].map((path) => `/proj/${path}`), '/log/sessions']
  expect([...(held[0]?.protected ?? [])].sort()).toEqual(expected.sort())
})

// files.md 10
test('what git reads of a repository, its worktrees and its submodules is protected, and a file that leads to a repository', async () => {
  const files: Record<string, FileSeed> = {
    '/proj/.git/worktrees/w/HEAD': 'x',
    '/proj/.git/modules/deep/name/objects/x': 'x',
    '/proj/.git/modules/deep/name/refs/x': 'x',
    '/proj/.git/modules/deep/name/worktrees/v/HEAD': 'x',
    '/proj/w/.git': 'gitdir: ../.git/worktrees/w',
    '/proj/l/.git': { link: '/proj/real/.git' },
    '/proj/real/.git/HEAD': 'x',
  }
  const { start, held } = await setup({ files, state: available })
  await start()
  const repositories = ['.git', '.git/modules/deep/name', 'real/.git']
  const worktrees = ['.git/worktrees/w', '.git/modules/deep/name/worktrees/v']
  const standIns = [...repositories, ...worktrees].flatMap((git) => [
    [`/proj/${git}/commondir`, '.\n'] as const,
    [`/proj/${git}/config.worktree`, ''] as const,
  ])
  expect(held[0]?.standIns).toEqual(new Map(standIns))
  expect(held[0]?.protected).toEqual(
    expect.arrayContaining([
      ...standIns.map(([path]) => path),
      ...repositories.flatMap((git) => [`/proj/${git}/config`, `/proj/${git}/hooks`]),
      '/proj/w/.git',
    ]),
  )
})

test('what was found once stays protected, whatever a process makes', async () => {
  const { start, held, world } = await setup({ files: { '/proj/z/.claude/x': 'x' }, state: available })
  await start()
  for (let i = 0; i < 2100; i++) await world.disk.mkdir(`/proj/${i}`)
  await start()
  expect(held[1]?.protected).toContain('/proj/z/.claude')
})

test('the search for files that grant authority is bounded', async () => {
  const folders = Array.from({ length: 2100 }, (_, i) => [`/proj/${i}/.claude/x`, 'x'] as const)
  const { start, held } = await setup({ files: Object.fromEntries(folders), state: available })
  await start()
  expect(held[0]?.protected.length).toBeGreaterThan(1900)
  expect(held[0]?.protected.length).toBeLessThan(2020)
})

test('the real folder counts, also when the session names it by a link', async () => {
  const { ctx, held } = await setup({ files: { '/real/a': 'a', '/proj': { link: '/real' } }, state: available })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await ctx.sandbox.spawn(options, { session })
  expect(held[0]?.workspace).toEqual(['/real'])
})

test('keys and sockets of the home folder are hidden', async () => {
  const { ctx, start, held } = await setup({ state: available })
  await start()
  expect(held[0]?.hidden).toEqual(expect.arrayContaining([`${ctx.world.host.homeDir}/.ssh`, '/run/user']))
})

test.each([
  ['no adapter is mounted', undefined, 'none: no adapter is mounted. Mount a sandbox adapter.'],
  ['the adapter cannot confine', missing, 'none: walls are not installed. Install walls.'],
])('where %s, a start needs a person, and the status says why', async (_, state, text) => {
  const { ctx, start, held, world } = await setup({ ...(state && { state }), answer: 'allow-once' })
  expect(await ctx.sandbox.describe()).toBe(text)
  const judgement = await ctx.sandbox.judge({})
  expect(judgement).toMatchObject({ kind: 'ask', reason: expect.stringContaining('no sandbox confines') as string })
  await expect(start()).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
  await expect(start({}, ['another rule'])).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
  expect(world.processes.started).toHaveLength(0)
  await start({}, ['another rule', (judgement as { rule: string }).rule])
  expect([world.processes.started.length, held]).toEqual([1, []])
})

test('an adapter whose check breaks confines nothing and says why', async () => {
  const { ctx, mount } = await setup()
  await mount()
  expect(await ctx.sandbox.status()).toMatchObject({ kind: 'none', why: 'no wall stands' })
})

test('where nothing confines, configuration can let everything run or nothing', async () => {
  const run = await setup({ config: { unavailable: 'run' } })
  await run.start()
  expect(run.world.processes.started).toHaveLength(1)
  const refuse = await setup({ config: { unavailable: 'refuse' }, state: missing, answer: 'allow-once' })
  expect(await refuse.ctx.sandbox.judge({})).toMatchObject({ kind: 'refuse', remedy: 'Install walls.' })
  await expect(refuse.start({}, ['sandbox: run without confinement'])).rejects.toMatchObject({
    code: 'SANDBOX_REFUSED',
  })
  expect(refuse.world.processes.started).toHaveLength(0)
})

test('in the mode full nothing is confined, nobody is asked, and the status says so', async () => {
  const { ctx, start, held, world } = await setup({ config: { mode: 'full', unavailable: 'refuse' }, state: available })
  expect(await ctx.sandbox.describe()).toBe('none: its mode is full. Set another mode.')
  await start({ unconfined: true })
  expect([world.processes.started.length, held]).toEqual([1, []])
})

test('a start outside of the sandbox needs a person for that very call', async () => {
  const { ctx, start, held, world } = await setup({ state: available, answer: 'allow-once' })
  const judgement = await ctx.sandbox.judge({ unconfined: true })
  expect(judgement).toMatchObject({ kind: 'ask', reason: expect.stringContaining('outside of the sandbox') as string })
  const { rule } = judgement as { rule: string }
  await start({ unconfined: true }, [rule])
  await expect(start({ unconfined: true })).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
  expect([world.processes.started.length, held]).toEqual([1, []])
})

test('a person who refuses has agreed to nothing', async () => {
  const { start } = await setup({ state: available, answer: 'reject' })
  const wants = { unconfined: true }
  await expect(start(wants, ['sandbox: run without confinement'])).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
})

test('a person agrees to hosts by name, and to no others', async () => {
  const { ctx, start, held } = await setup({ config: { hosts: ['a.org'] }, state: available, answer: 'allow-once' })
  expect(await ctx.sandbox.judge({ hosts: ['a.org'] })).toEqual({ kind: 'within' })
  const judgement = await ctx.sandbox.judge({ hosts: ['c.org', 'a.org', 'b.org'] })
  expect(judgement).toMatchObject({ kind: 'ask', reason: 'it wants to reach c.org, b.org over the network' })
  const { rule } = judgement as { rule: string }
  await start({ hosts: ['b.org', 'c.org'] }, [rule])
  expect(held[0]?.hosts).toEqual(['a.org', 'b.org', 'c.org'])
  await expect(start({ hosts: ['b.org', 'd.org'] }, [rule])).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
  await expect(start({ unconfined: true }, [rule])).rejects.toMatchObject({ code: 'SANDBOX_NOT_AGREED' })
})

test.each([
  ['a.org', ['a.org', 'A.org', 'a.org:443'], ['b.org', 'x.a.org', '*.a.org', 'xa.org']],
  ['*.a.org', ['x.a.org', '*.a.org', '*.x.a.org', 'x.a.org:443'], ['a.org', 'xa.org', '*.org', 'x.a.org.evil']],
  ['a.org:443', ['a.org:443'], ['a.org', 'a.org:80']],
  ['*', ['a.org', '*.org', '1.2.3.4:80'], []],
  ['*:443', ['a.org:443'], ['a.org']],
  ['[::1]', ['[::1]', '[::1]:80'], ['[::2]']],
])('where %s can be reached, nobody is asked about what it covers', async (pattern, covered, others) => {
  const { ctx } = await setup({ config: { hosts: [pattern] }, state: available })
  const asked = async (hosts: readonly string[]) => {
    const kinds = await Promise.all(hosts.map((host) => ctx.sandbox.judge({ hosts: [host] })))
    return hosts.filter((_, i) => kinds[i]?.kind === 'ask')
  }
  expect(await asked([...covered, ...others])).toEqual(others)
})

test('what was agreed with a sandbox in force permits nothing when it is gone', async () => {
  const { fiber, start, world } = await setup({ state: available, answer: 'allow-once' })
  await fiber?.dispose()
  await expect(start({ hosts: ['b.org'] }, ['sandbox: reach b.org'])).rejects.toMatchObject({
    code: 'SANDBOX_NOT_AGREED',
  })
  expect(world.processes.started).toHaveLength(0)
})

test('one adapter is in force; unloading it makes room for another', async () => {
  const { ctx, mount, fiber } = await setup({ state: available })
  await expect(mount()).rejects.toMatchObject({ code: 'SANDBOX_TAKEN' })
  await fiber?.dispose()
  expect((await ctx.sandbox.status()).kind).toBe('none')
  await mount()
  expect((await ctx.sandbox.status()).kind).toBe('confined')
})

test('a call asks for more by two arguments, and odd ones ask for nothing', () => {
  expect(sandbox.wantsOf({ hosts: ['a', 1], unconfined: true })).toEqual({ hosts: ['a'], unconfined: true })
  expect(sandbox.wantsOf({ hosts: 'a', unconfined: 'yes' })).toEqual({})
})

test('what a model reads of its sandbox is this', async () => {
  const { ctx, fiber } = await setup({ config: { hosts: ['a.org'] }, state: available })
  const sections: (() => string)[] = []
  const agents = { section: (_: string, __: number, text: () => string) => void sections.push(text) }
  ctx.provide('agents' as never, agents as never)
  await ctx.fiber.await()
  expect(sections.map((text) => text())).toMatchInlineSnapshot(`
    [
      "Programs that tools start run in a sandbox: only the working folder and a /tmp of its own are writable, without the files that decide what may be done here; of the network only a.org. A call that needs more asks a person for it by its arguments hosts and unconfined.",
    ]
  `)
  expect(await ctx.sandbox.limits({ hosts: ['b.org'] })).toMatchInlineSnapshot(
    `"only the working folder and a /tmp of its own are writable, without the files that decide what may be done here; of the network only a.org, b.org"`,
  )
  expect(await ctx.sandbox.limits({ unconfined: true })).toBeUndefined()
  await fiber?.dispose()
  expect([sections[0]?.(), await ctx.sandbox.limits()]).toEqual(['', undefined])
  const readOnly = await setup({ config: { mode: 'read-only' }, state: available })
  expect(await readOnly.ctx.sandbox.limits()).toMatchInlineSnapshot(
    `"files are read-only but for those in a /tmp of its own; no network can be reached"`,
  )
})
