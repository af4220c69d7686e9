import * as sandbox from '@sluice/sandbox'
import { expect, test } from 'vitest'

import { available, missing, setup } from './setup.ts'

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
      "Programs that tools start run in a sandbox: only the workspace (the working folder, unless more is configured) and a /tmp of its own are writable, without the files that decide what may be done here; of the network only a.org. A call that needs more asks a person for it by its arguments hosts and unconfined.",
    ]
  `)
  expect(await ctx.sandbox.limits({ hosts: ['b.org'] })).toMatchInlineSnapshot(
    `"only the workspace (the working folder, unless more is configured) and a /tmp of its own are writable, without the files that decide what may be done here; of the network only a.org, b.org"`,
  )
  expect(await ctx.sandbox.limits({ unconfined: true })).toBeUndefined()
  await fiber?.dispose()
  expect([sections[0]?.(), await ctx.sandbox.limits()]).toEqual(['', undefined])
  const readOnly = await setup({ config: { mode: 'read-only' }, state: available })
  expect(await readOnly.ctx.sandbox.limits()).toMatchInlineSnapshot(
    `"files are read-only but for those in a /tmp of its own; no network can be reached"`,
  )
})
