import { expect, test } from 'vitest'
import { turn } from '@sluice/testkit'
import { UNDO_CALLS_MAX, UNDO_CHANGES_MAX } from '../src/recent-changes.ts'
import { setup } from './setup.ts'

test('undo restores the bytes from before a call, and can itself be undone', async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0xff, 0x0a])
  const { ctx, world, call } = await setup({ files: { '/proj/f': { content: bytes, mode: 0o755 } } })
  const content = async () => {
    const file = await world.disk.open('/proj/f', { read: true })
    const into = Buffer.alloc(64)
    return into.subarray(0, await file.read(into, 0))
  }
  await ctx.fs.write('f', 'whole new\n', call('c1'))
  await ctx.fs.undo('c1', call('u1'))
  expect(await content()).toEqual(bytes)
  expect((await world.disk.stat('/proj/f')).mode).toBe(0o755)
  await ctx.fs.undo('u1', call('u2'))
  expect((await content()).toString()).toBe('\uFEFFwhole new\n')
})

test('undo of a creation removes the file, and undo of that brings it back', async () => {
  const { ctx, world, call } = await setup()
  await ctx.fs.write('f', 'x\n', call('c1'))
  const [result] = await ctx.fs.undo('c1', call('u1'))
  expect(result).toMatchObject({ after: undefined, linesRemoved: 1 })
  expect(world.disk.tree('/proj')).toEqual({})
  await ctx.fs.undo('u1', call('u2'))
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'x\n' })
})

test('undo takes back several changes of one call, across files, or none of them', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a\n', '/proj/g': 'g\n' } })
  await ctx.fs.write('f', 'b\n', call('c1'))
  await ctx.fs.write('g', 'h\n', call('c1'))
  await ctx.fs.write('f', 'c\n', call('c1'))
  await ctx.fs.undo('c1', call())
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'a\n', '/proj/g': 'g\n' })

  await ctx.fs.write('f', 'b\n', call('c2'))
  await ctx.fs.write('g', 'h\n', call('c2'))
  await ctx.fs.write('g', 'somebody else\n', call('c3'))
  await expect(ctx.fs.undo('c2', call())).rejects.toMatchObject({ code: 'FS_STALE', data: { path: '/proj/g' } })
  expect(world.disk.text('/proj/f')).toBe('b\n')
})

test('a call that was taken back is not taken back again, until that is itself taken back', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a\n' } })
  await ctx.fs.write('f', 'b\n', call('c1'))
  await ctx.fs.write('g', 'new\n', call('c1'))
  await ctx.fs.undo('c1', call('u1'))
  const again = { code: 'FS_NOTHING_TO_UNDO', data: { callId: 'c1', detail: 'it was taken back already' } }
  await expect(ctx.fs.undo('c1', call('u2'))).rejects.toMatchObject(again)
  await ctx.fs.undo('u1', call('u3'))
  expect(world.disk.text('/proj/f')).toBe('b\n')
  await ctx.fs.write('f', 'c\n', call('c2'))
  await expect(ctx.fs.undo('c1', call('u4'))).rejects.toMatchObject({ code: 'FS_STALE' })
})

test('undo refuses when the file is no longer what the call left', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a\n' } })
  await ctx.fs.write('f', 'b\n', call('c1'))
  await ctx.fs.write('f', 'c\n', call('c2'))
  await expect(ctx.fs.undo('c1', call())).rejects.toMatchObject({ code: 'FS_STALE' })
  expect(world.disk.text('/proj/f')).toBe('c\n')
})

test("undo does not lose somebody else's change between two of the call", async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a\n' } })
  await ctx.fs.write('f', 'b\n', call('c1'))
  await ctx.fs.write('f', 'theirs\n', call('c2'))
  await ctx.fs.write('f', 'c\n', call('c1'))
  await expect(ctx.fs.undo('c1', call())).rejects.toMatchObject({ code: 'FS_STALE' })
  expect(world.disk.text('/proj/f')).toBe('c\n')
})

test('a change while undo is at work is not lost', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a\n', '/proj/g': 'g\n' } })
  await ctx.fs.write('f', 'b\n', call('c1'))
  await ctx.fs.write('g', 'h\n', call('c1'))
  const release = world.disk.hold('sync')
  const outcome = expect(ctx.fs.undo('c1', call())).rejects.toMatchObject({
    code: 'FS_STALE',
    data: { path: '/proj/g' },
  })
  await turn()
  world.disk.plant({ '/proj/g': 'theirs\n' })
  release()
  await outcome
  expect(world.disk.text('/proj/g')).toBe('theirs\n')
})

test('undo of a call that changed nothing says so', async () => {
  const { ctx, call } = await setup()
  await expect(ctx.fs.undo('c9', call())).rejects.toMatchObject({ code: 'FS_NOTHING_TO_UNDO' })
})

test('undo reaches back a bounded number of calls', async () => {
  const { ctx, world, session, call } = await setup()
  await ctx.fs.write('first', 'x\n', call('first'))
  await ctx.fs.write('second', 'x\n', call('second'))
  const change = { path: '/proj/other', key: 'k' }
  for (let i = 2; i <= UNDO_CALLS_MAX; i++) session.append('fs/changed', { ...change, callId: `later-${i}` })
  const refused = {
    code: 'FS_NOTHING_TO_UNDO',
    data: { detail: 'it is not among the last 200 calls that changed a file' },
  }
  await expect(ctx.fs.undo('first', call('u1'))).rejects.toMatchObject(refused)
  await ctx.fs.undo('second', call('u2'))
  expect(Object.keys(world.disk.tree('/proj'))).toEqual(['/proj/first'])
})

test('a call that made too many changes is not taken back in part', async () => {
  const { ctx, session, call } = await setup()
  await ctx.fs.write('f', 'x\n', call('c1'))
  for (let i = 1; i <= UNDO_CHANGES_MAX; i++) {
    session.append('fs/changed', { callId: 'c1', path: `/proj/${i}`, key: 'k' })
  }
  const refused = { code: 'FS_NOTHING_TO_UNDO', data: { detail: 'it made more than 1000 changes' } }
  await expect(ctx.fs.undo('c1', call('u1'))).rejects.toMatchObject(refused)
})
