import { simWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { BACKLOG_MAX, UNSYNCED_BYTES_MAX } from '../src/index.ts'
import { DIR, filesOf, LOG, linesOf, machineWith, mount, otherProcess, quiet, texts, user } from './kit.ts'

async function opened(count = 1) {
  const world = await machineWith(count)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  await session.durable()
  return { world, sessions, session }
}

test('a full disk is told, nothing acknowledged is lost, and what waits is written when there is room', async () => {
  const { world, session } = await opened()
  const before = world.disk.text(LOG) ?? ''
  world.disk.limit(before.length + 50)
  user(session, 'waits for room')
  await expect(session.durable()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  await expect(session.durable()).rejects.toThrow('ENOSPC')
  expect(world.disk.text(LOG)).toBe(before)
  user(session, 'this too')
  world.disk.limit(undefined)
  await session.durable()
  expect(linesOf(world)).toHaveLength(5)
  await session.close()
})

test('a record that a full disk took half of is cut off again at once', async () => {
  const { world, session } = await opened()
  const before = world.disk.text(LOG)
  user(session, 'only half of this fits')
  world.disk.failNext('write', 'ENOSPC', { partialBytes: 20 })
  await expect(session.durable()).rejects.toThrow('ENOSPC')
  expect(world.disk.text(LOG)).toBe(before)
  await session.durable()
  expect(texts(await (await mount(world.reboot({ keep: 'none' }))).sessions.open('s'))).toHaveLength(2)
})

test('a session whose id was taken before its first write does not replace the other', async () => {
  const world = simWorld()
  world.disk.setReadOnly(true)
  const late = await (await mount(world)).sessions.create({ cwd: '/late', id: 's' })
  await expect(late.durable()).rejects.toThrow('EROFS')
  world.disk.setReadOnly(false)
  const first = await (await mount(world)).sessions.create({ cwd: '/first', id: 's' })
  await first.close()
  await expect(late.durable()).rejects.toThrow('already a session')
  expect(linesOf(world)).toHaveLength(1)
  expect(linesOf(world)[0]).toContain('/first')
})

test('a disk that turns read-only is told, and the session goes on when it is writable again', async () => {
  const { world, session } = await opened()
  world.disk.setReadOnly(true)
  user(session, 'waits')
  await expect(session.durable()).rejects.toThrow('EROFS')
  world.disk.setReadOnly(false)
  await session.durable()
  expect(linesOf(world)).toHaveLength(4)
})

test('a full disk keeps no session from being removed, except one that is being written', async () => {
  const world = await machineWith(1)
  world.processes.plant({ pid: world.host.pid })
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  await session.durable()
  const full = () => world.disk.failNext('write', 'ENOSPC', { times: 1 })
  full()
  await expect((await mount(otherProcess(world, 9))).sessions.remove('s')).rejects.toMatchObject({
    code: 'SESSION_LOCKED',
  })
  await session.close()
  full()
  await sessions.remove('s')
  expect(filesOf(world)).toEqual([])
})

test('a removal that stopped half way is gone by its name, and the next removal ends it', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  await (await sessions.create({ cwd: '/proj', id: 'other' })).close()
  world.disk.failNext('unlink', 'EIO', { path: `${DIR}/.removed-s/events.jsonl` })
  await expect(sessions.remove('s')).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  expect((await sessions.list()).map(({ id }) => id)).toEqual(['other'])
  await sessions.remove('other')
  expect(world.disk.tree(DIR)).toEqual({})
})

test('a session that a full disk kept from its first record leaves nothing', async () => {
  const world = await machineWith(1)
  const before = world.disk.tree()
  const { sessions } = await mount(world)
  world.disk.failNext('write', 'ENOSPC', { path: `${DIR}/new/events.jsonl.tmp`, partialBytes: 9, times: 9 })
  const session = await sessions.create({ cwd: '/proj', id: 'new' })
  await expect(session.close()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  expect(world.disk.tree()).toEqual(before)
})

test('what a read-only disk refuses is called unwritable, not unreadable', async () => {
  const world = await machineWith(1)
  world.disk.setReadOnly(true)
  const { sessions } = await mount(world)
  for (const work of [sessions.open('s'), sessions.repair('s'), sessions.remove('s')]) {
    await expect(work).rejects.toMatchObject({ code: 'STORE_UNWRITABLE', data: { path: `${DIR}/s`, code: 'EROFS' } })
  }
})

test('after a failed sync the lost bytes are written again through a new descriptor', async () => {
  const { world, session } = await opened()
  user(session, 'lost by the kernel')
  world.disk.failNext('datasync', 'EIO')
  const from = world.disk.effects.length
  await session.durable()
  expect(world.disk.effects.slice(from).map((effect) => effect.op)).toEqual(['write', 'datasync', 'write', 'datasync'])
  const after = world.reboot({ keep: 'none' })
  expect(texts(await (await mount(after)).sessions.open('s'))).toEqual(['message 1', 'lost by the kernel'])
})

test('a sync that fails again is told, and nothing later counts as durable before it succeeds', async () => {
  const { world, session } = await opened()
  user(session, 'a')
  world.disk.failNext('datasync', 'EIO', { times: 2 })
  await expect(session.durable()).rejects.toThrow('EIO')
  user(session, 'b')
  await session.durable()
  const after = world.reboot({ keep: 'none' })
  expect(texts(await (await mount(after)).sessions.open('s'))).toEqual(['message 1', 'a', 'b'])
})

test('a log that another file took the place of is not written to any more', async () => {
  const { world, session } = await opened()
  const text = world.disk.text(LOG) ?? ''
  await world.disk.rename(LOG, `${LOG}.old`)
  world.disk.plant({ [LOG]: { content: text, mode: 0o600 } })
  user(session, 'a')
  world.disk.failNext('datasync', 'EIO')
  await expect(session.durable()).rejects.toThrow('another file')
  expect(() => user(session, 'b')).toThrow(expect.objectContaining({ code: 'STORE_FOREIGN_CHANGE' }))
  expect(world.disk.text(LOG)).toBe(text)
})

test('a log that became shorter from outside is not written to any more', async () => {
  const { world, session } = await opened()
  const file = await world.disk.open(LOG, { write: true })
  await file.truncate(10)
  await file.sync()
  await file.close()
  user(session, 'a')
  world.disk.failNext('datasync', 'EIO')
  await expect(session.durable()).rejects.toThrow('were acknowledged')
})

test('a session that cannot be created is told at its first barrier and retried at the next', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  world.disk.setReadOnly(true)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  await expect(session.durable()).rejects.toThrow('EROFS')
  world.disk.setReadOnly(false)
  await session.durable()
  expect(linesOf(world)).toHaveLength(1)
})

test('two sessions created under one id: the second is refused at its first barrier', async () => {
  const world = simWorld()
  const one = await (await mount(world)).sessions.create({ cwd: '/one', id: 's' })
  const two = await (await mount(world)).sessions.create({ cwd: '/two', id: 's' })
  await one.durable()
  await expect(two.durable()).rejects.toThrow(/is being written by|already a session/)
  await expect(two.close()).rejects.toThrow()
  await one.close()
  expect(linesOf(world)).toHaveLength(1)
  expect(linesOf(world)[0]).toContain('/one')
})

test('closing tells that events were lost, and still releases the session', async () => {
  const { world, sessions, session } = await opened()
  world.disk.setReadOnly(true)
  user(session, 'never written')
  await expect(session.close()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  world.disk.setReadOnly(false)
  expect(sessions.get('s')).toBeUndefined()
  expect(world.disk.openFiles).toBe(0)
})

test('more than the backlog may hold is refused while the disk is gone', async () => {
  const { world, session } = await opened()
  world.disk.setReadOnly(true)
  const big = 'x'.repeat(BACKLOG_MAX / 4)
  const append = () => user(session, big)
  append()
  await expect(session.durable()).rejects.toThrow('EROFS')
  append()
  append()
  const length = session.events.length
  expect(append).toThrow(expect.objectContaining({ code: 'STORE_BACKLOG_FULL' }))
  expect(session.events).toHaveLength(length)
})

test('bytes nobody waits for are synced once there are many of them', async () => {
  const { world, session } = await opened()
  const from = world.disk.effects.length
  user(session, 'x'.repeat(UNSYNCED_BYTES_MAX + 1))
  await quiet()
  expect(world.disk.effects.slice(from).map((effect) => effect.op)).toEqual(['write', 'datasync'])
})

test('appends that arrive during a sync share the next one', async () => {
  const { world, session } = await opened()
  const from = world.disk.effects.length
  const release = world.disk.hold('datasync')
  user(session, 'first')
  const waits = [session.durable()]
  for (let i = 0; i < 64; i++) {
    await Promise.resolve()
    user(session, `${i}`)
    waits.push(session.durable())
  }
  release()
  await Promise.all(waits)
  expect(world.disk.effects.slice(from).filter((effect) => effect.op === 'datasync')).toHaveLength(2)
})

test('what is read when a log is opened is on disk before anything is built upon it', async () => {
  const { world, session } = await opened()
  user(session, 'written, not synced')
  await quiet()
  const sameMachine = { ...world, host: { ...world.host, pid: 9 } }
  const again = await (await mount(sameMachine)).sessions.open('s')
  expect(texts(again)).toEqual(['message 1', 'written, not synced'])
  const after = world.reboot({ keep: 'none' })
  expect(texts(await (await mount(after)).sessions.open('s'))).toEqual(texts(again))
})

test('a blob that cannot be stored is told and leaves no event', async () => {
  const { world, session } = await opened()
  const length = session.events.length
  world.disk.failNext('sync', 'ENOSPC')
  await expect(session.putBlob(Buffer.from('x'), { mediaType: 'text/plain' })).rejects.toMatchObject({
    code: 'STORE_UNWRITABLE',
  })
  expect(session.events).toHaveLength(length)
  const ref = await session.putBlob(Buffer.from('x'), { mediaType: 'text/plain' })
  world.disk.plant({ [`${DIR}/s/blobs/${ref.digest}`]: 'y' })
  expect(await session.getBlob(ref)).toBeUndefined()
})
