import type { Disk, DiskFile } from '@sluice/base'
import type { Context } from 'cordis'
import { expect, test } from 'vitest'
import { simWorld, type SimWorld } from '@sluice/testkit'
import type { TargetCheck } from '../src/index.ts'
import { mounted, setup } from './setup.ts'

const inside: TargetCheck = ({ path }) =>
  path === '/proj' || path.startsWith('/proj/') ? undefined : { code: 'TEST_OUTSIDE', reason: 'outside' }

test('a check refuses a target by its real path, for reading, listing and changing', async () => {
  const files = {
    '/out/secret': 's',
    '/proj/l': { link: '/out' },
    '/proj/leaf': { link: '/out/new' },
    '/proj/in': 'in',
  } as const
  const { ctx, call, world } = await setup({ files })
  ctx.fs.restrict('inside', inside)
  const refused = { code: 'FS_REFUSED', data: { code: 'TEST_OUTSIDE' } }
  await expect(ctx.fs.read('l/secret', {}, call())).rejects.toMatchObject(refused)
  await expect(ctx.fs.list('l', call())).rejects.toMatchObject(refused)
  await expect(ctx.fs.check('../out/secret', 'read', call())).rejects.toMatchObject(refused)
  await expect(ctx.fs.write('leaf', 'x', call())).rejects.toMatchObject(refused)
  await expect(ctx.fs.write('l/x/y', 'x', call())).rejects.toMatchObject(refused)
  await expect(ctx.fs.edit('l/secret', [{ oldText: 's', newText: 't' }], call())).rejects.toMatchObject(refused)
  expect(world.disk.effectCount).toBe(0)
  expect((await ctx.fs.read('in', {}, call())).lines).toEqual(['in'])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('boom')
    },
    'the check broken failed: boom',
  ],
  ['answers nonsense', () => ({ code: 'X' }), 'the check broken gave an answer that is none'],
  ['answers yes', () => true, 'the check broken gave an answer that is none'],
])('a check that %s refuses', async (_how, check, reason) => {
  const { ctx, call } = await setup({ files: { '/proj/f': 'x' } })
  ctx.fs.restrict('broken', check as unknown as TargetCheck)
  await expect(ctx.fs.read('f', {}, call())).rejects.toMatchObject({ data: { code: 'FS_CHECK_FAILED', reason } })
})

test('what may not be read may not be changed either, but may be created', async () => {
  const { ctx, call } = await setup({ files: { '/proj/.env': 'KEY=1\n' } })
  ctx.fs.restrict('secrets', ({ path }, access) =>
    access === 'read' && path.endsWith('.env') ? { code: 'TEST_SECRET', reason: 'secret' } : undefined,
  )
  await expect(ctx.fs.write('.env', 'x', call())).rejects.toMatchObject({ data: { code: 'TEST_SECRET' } })
  await ctx.fs.write('new.env', 'x', call())
})

test('a check is gone with the plugin that mounted it', async () => {
  const { ctx, call } = await setup({ files: { '/out/f': 'x' } })
  const apply = (inner: Context) => void inner.fs.restrict('inside', inside)
  const fiber = await ctx.plugin({ name: 'restricts', inject: ['fs'], apply })
  await expect(ctx.fs.read('/out/f', {}, call())).rejects.toMatchObject({ code: 'FS_REFUSED' })
  await fiber.dispose()
  expect((await ctx.fs.read('/out/f', {}, call())).lines).toEqual(['x'])
})

/** A World whose disk runs `swap` once, right before the operation that `when` picks. */
function swapping(world: SimWorld, when: (op: string, path: string) => boolean, swap: () => Promise<void>): SimWorld {
  let done = false
  const disk = new Proxy(world.disk, {
    get(target, property) {
      const member = Reflect.get(target, property) as unknown
      if (typeof member !== 'function') return member
      return async (...args: unknown[]) => {
        if (!done && when(String(property), String(args[0]))) {
          done = true
          await swap()
        }
        return Reflect.apply(member, target, args) as unknown
      }
    },
  })
  return { ...world, disk: disk as SimWorld['disk'] & Disk }
}

async function race(when: (op: string, path: string) => boolean) {
  const real = simWorld({ files: { '/proj/d/f': 'inside\n', '/out/f': 'outside\n' } })
  const world = swapping(real, when, async () => {
    await real.disk.rename('/proj/d', '/proj/gone')
    await real.disk.symlink('/out', '/proj/d')
  })
  const ctx = await mounted(world)
  ctx.fs.restrict('inside', inside)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  return { ctx, disk: real.disk, context: { session, call: { id: 'c', tool: 'test' } } }
}

test('a folder swapped for a link between check and open is caught when reading', async () => {
  for (const op of ['lstat', 'open']) {
    const { ctx, context } = await race((name, path) => name === op && path === '/proj/d/f')
    await expect(ctx.fs.read('d/f', {}, context)).rejects.toMatchObject({ code: 'FS_REFUSED' })
  }
})

test('a folder swapped for a link between check and write puts nothing outside', async () => {
  for (const op of ['lstat', 'open', 'rename'] as const) {
    const { ctx, disk, context } = await race((name, path) => name === op && /^\/proj\/d\/(f|\.sluice)/.test(path))
    await expect(ctx.fs.write('d/f', 'x\n', context)).rejects.toThrow()
    expect(disk.tree('/out')).toEqual({ '/out/f': 'outside\n' })
  }
  const { ctx, disk, context } = await race((name, path) => name === 'open' && path.includes('.sluice'))
  await expect(ctx.fs.write('d/new', 'x\n', context)).rejects.toMatchObject({ data: { code: 'FS_REDIRECTED' } })
  expect(disk.tree('/out')).toEqual({ '/out/f': 'outside\n' })
})

test('a file swapped for a FIFO between check and open does not make a reader wait', async () => {
  const real = simWorld({ files: { '/proj/f': 'x' } })
  const world = swapping(
    real,
    (op) => op === 'open',
    async () => real.disk.plant({ '/proj/f': { kind: 'fifo' } }),
  )
  const ctx = await mounted(world)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const reading = ctx.fs.read('f', {}, { session, call: { id: 'c', tool: 'test' } })
  await expect(reading).rejects.toMatchObject({ code: 'FS_NOT_A_FILE', data: { kind: 'fifo' } })
})

test('where the platform tells the path of a descriptor, a file outside is refused whatever the look-ups said', async () => {
  const real = simWorld({ files: { '/proj/f': 'inside', '/out/f': 'outside' } })
  const open: Disk['open'] = async (_path, options) => {
    const file = await real.disk.open('/out/f', options)
    return new Proxy(file as DiskFile, {
      get: (target, key) => (key === 'realPath' ? () => Promise.resolve('/out/f') : bound(target, key)),
    })
  }
  const liar = { open, lstat: () => real.disk.lstat('/out/f') } as const
  const disk = new Proxy(real.disk, {
    get: (target, key) => (key === 'open' || key === 'lstat' ? liar[key] : bound(target, key)),
  })
  const ctx = await mounted({ ...real, disk })
  ctx.fs.restrict('inside', inside)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const reading = ctx.fs.read('f', {}, { session, call: { id: 'c', tool: 'test' } })
  await expect(reading).rejects.toMatchObject({ data: { code: 'TEST_OUTSIDE' } })
  expect(real.disk.openFiles).toBe(0)
})

test('a file that is replaced at every look-up is refused in the end', async () => {
  const real = simWorld({ files: { '/proj/f': 'x' } })
  let made = 0
  const open: Disk['open'] = async (path, options) => {
    const other = `/proj/other-${made++}`
    await (await real.disk.open(other, { create: true, write: true })).close()
    await real.disk.rename(other, path)
    return real.disk.open(path, options)
  }
  const disk = new Proxy(real.disk, { get: (target, key) => (key === 'open' ? open : bound(target, key)) })
  const ctx = await mounted({ ...real, disk })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const reading = ctx.fs.read('f', {}, { session, call: { id: 'c', tool: 'test' } })
  await expect(reading).rejects.toMatchObject({ code: 'FS_REFUSED', data: { code: 'FS_REDIRECTED' } })
  expect(made).toBe(4)
})

function bound(target: object, key: string | symbol): unknown {
  const member = Reflect.get(target, key) as unknown
  return typeof member === 'function' ? (member.bind(target) as unknown) : member
}
