import { type FileSeed } from '@sluice/testkit'
import type { Context } from 'cordis'
import { expect, test } from 'vitest'
import { available, options, setup } from './setup.ts'

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
  const nested = [
    '1/2/3/.codex',
    '1/2/3/4/.codex',
    'packages/one/.claude',
    ...repository('.git'),
    ...repository('packages/two/.git'),
  ]
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
  for (let i = 0; i < 5100; i++) await world.disk.mkdir(`/proj/${i}`)
  await start()
  expect(held[1]?.protected).toContain('/proj/z/.claude')
})

test('the search for files that grant authority is bounded, and says when it was cut', async () => {
  const folders = (count: number, name: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`/proj/${i}/${name}`, 'x'] as const))
  const cutWith = async (files: Record<string, FileSeed>) => {
    const { start, held, ctx, session } = await setup({ files, state: available })
    await start()
    return { cut: (await ctx.sandbox.appeared(session)).cut, paths: held[0]?.protected.length }
  }
  expect(await cutWith(folders(4_999, 'x'))).toEqual({ cut: false, paths: 5 })
  expect(await cutWith(folders(5_000, 'x'))).toEqual({ cut: true, paths: 5 })
})

test('no more is protected than a program can be started with, and it is said that something is not', async () => {
  const { start, held, ctx, session, world } = await setup({ files: { '/proj/.git/HEAD': 'x' }, state: available })
  const cutAfter = async (made: string[]) => {
    for (const each of made) await world.disk.mkdir(`/proj/${each}`, { recursive: true })
    await start()
    const { cut } = await ctx.sandbox.appeared(session)
    return { cut, paths: held.at(-1)?.protected.length }
  }
  const own = 5 + 4
  const many = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i))
  expect(await cutAfter(many(100, (i) => `${i}/.claude`))).toEqual({ cut: false, paths: own + 100 })
  // The folders above it would be too many bytes, also where they are few enough.
  expect(await cutAfter([`${many(500, () => 'deeper').join('/')}/.claude`])).toEqual({
    cut: true,
    paths: own + 100,
  })
  const { paths = 0 } = await cutAfter(many(1_000, (i) => `.git/worktrees/${i}`))
  expect(paths).toBeGreaterThan(own + 400)
  expect(paths).toBeLessThan(1_000)
  // Also not bit by bit.
  const later = await cutAfter(many(500, (i) => `0${i}/.claude`))
  expect(later.cut).toBe(true)
  expect(later.paths).toBeLessThan(paths + 2)
  expect(held.at(-1)?.protected).toEqual(
    expect.arrayContaining(['/proj/.git/config', '/proj/.git/hooks', '/proj/99/.claude']),
  )
})

test('a folder that cannot be looked into, or has a name that is no text, is said', async () => {
  const { start, ctx, session, world } = await setup({ state: available })
  await start()
  const cut = async () => (await ctx.sandbox.appeared(session)).cut
  expect(await cut()).toBe(false)
  await world.disk.mkdir('/proj/closed', { mode: 0 })
  expect(await cut()).toBe(true)
  await world.disk.rmdir('/proj/closed')
  expect(await cut()).toBe(false)
})

test('what a process that goes on has made is told also when another was started meanwhile', async () => {
  const { start, ctx, session, world } = await setup({ state: available })
  const make = (folder: string) => world.disk.mkdir(`/proj/${folder}/.git`, { recursive: true })
  let end!: () => void
  world.processes.on('bash', async () => {
    await new Promise<void>((resolve) => (end = resolve))
    return {}
  })
  const job = await start()
  const endJob = end
  expect(await ctx.sandbox.appeared(session)).toEqual({ paths: [], cut: false })
  await make('of-job')
  const command = await start()
  end()
  await command.exited
  expect(await ctx.sandbox.appeared(session)).toEqual({ paths: ['/proj/of-job/.git'], cut: false })
  await make('of-job-again')
  endJob()
  await job.exited
  const last = await start()
  end()
  await last.exited
  expect(await ctx.sandbox.appeared(session)).toEqual({ paths: ['/proj/of-job-again/.git'], cut: false })
  await make('of-a-person')
  await start()
  expect(await ctx.sandbox.appeared(session)).toEqual({ paths: [], cut: false })
})

// files.md 10
test('what comes into being and grants authority is told once, at any depth, and protected from then on', async () => {
  const files = { '/proj/.claude': { link: '/proj/shared' }, '/proj/shared/x': 'x', '/proj/a/.git/HEAD': 'x' }
  const { start, held, ctx, session, world } = await setup({ files, state: available })
  const appeared = () => ctx.sandbox.appeared(session)
  expect(await appeared()).toEqual({ paths: [], cut: false })
  await start()
  expect(await appeared()).toEqual({ paths: [], cut: false })
  await world.disk.unlink('/proj/.claude')
  await world.disk.symlink('/out', '/proj/.claude')
  await world.disk.mkdir('/proj/a/b/c/d/e/f/.git', { recursive: true })
  const paths = ['/proj/.claude -> /out', '/proj/a/b/c/d/e/f/.git']
  expect(await appeared()).toEqual({ paths, cut: false })
  expect(await appeared()).toEqual({ paths: [], cut: false })
  await start()
  expect(held[1]?.protected).toContain('/proj/a/b/c/d/e/f/.git/hooks')
})

test('the real folder counts, also when the session names it by a link', async () => {
  const { ctx, held } = await setup({ files: { '/real/a': 'a', '/proj': { link: '/real' } }, state: available })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await ctx.sandbox.spawn(options, { session })
  expect(held[0]?.workspace).toEqual(['/real'])
})

test('what a policy says counts as workspace or as only read, unless the configuration says what is writable', async () => {
  const files = { '/proj/vendor/a': 'a', '/build/a': 'a', '/other/a': 'a' }
  const said = [
    { path: '/proj', writable: true },
    { path: '/build', writable: true },
    { path: '/proj/vendor', writable: false },
  ]
  const held = async (config: object) => {
    const own = await setup({ files, state: available, config })
    const plugin = {
      name: 'policy',
      inject: ['sandbox'],
      apply: (ctx: Context) => void ctx.sandbox.workspace(() => Promise.resolve(said)),
    }
    const fiber = await own.ctx.plugin(plugin)
    await own.start()
    await fiber.dispose()
    await own.start()
    return own.held.map(({ workspace, readOnly }) => ({ workspace, readOnly }))
  }
  const alone = { workspace: ['/proj'], readOnly: [] }
  expect(await held({})).toEqual([{ workspace: ['/proj', '/build'], readOnly: ['/proj/vendor'] }, alone])
  const own = ['/proj', '/other']
  expect(await held({ writable: ['/other'] })).toEqual([
    { workspace: own, readOnly: ['/proj/vendor'] },
    { workspace: own, readOnly: [] },
  ])
  expect((await held({ writable: [] }))[0]?.workspace).toEqual(['/proj'])
})

test('a link that a process puts where a folder of the workspace was, or was missing, leads nowhere', async () => {
  const { start, held, world } = await setup({
    files: { '/proj/a': 'a', '/out/a': 'a' },
    state: available,
    config: { writable: ['build'] },
  })
  await start()
  await world.disk.symlink('/out', '/proj/build')
  await start()
  expect(held.map(({ workspace }) => workspace)).toEqual([['/proj', '/proj/build'], ['/proj']])
})

test('keys and sockets of the home folder are hidden', async () => {
  const { ctx, start, held } = await setup({ state: available })
  await start()
  expect(held[0]?.hidden).toEqual(expect.arrayContaining([`${ctx.world.host.homeDir}/.ssh`, '/run/user']))
})
