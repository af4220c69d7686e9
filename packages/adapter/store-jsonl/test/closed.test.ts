import { expect, test } from 'vitest'
import { filesOf, LOG, machineWith, mount, quiet, texts, user } from './kit.ts'

// session-log.md 2.3, 3.4; BUG-013
test('a session that could not bring its events to disk when it was closed writes nothing afterwards', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const late = await sessions.open('s')
  await late.durable()
  user(late, 'never written')
  world.disk.failNext('datasync', 'EIO', { times: 2 })
  await expect(late.close()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  const next = await sessions.open('s')
  user(next, 'by the next writer')
  await next.durable()
  const before = world.disk.text(LOG)
  await expect(late.durable()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  expect(world.disk.text(LOG)).toBe(before)
  await next.close()
  const again = await sessions.open('s')
  expect(again.findings).toEqual([])
  expect(texts(again)).toEqual(['message 1', 'by the next writer'])
})

test('a session that was closed before its first write makes nothing afterwards', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  world.disk.setReadOnly(true)
  const late = await sessions.create({ cwd: '/proj', id: 'late' })
  await expect(late.close()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  world.disk.setReadOnly(false)
  await expect(late.durable()).rejects.toMatchObject({ code: 'SESSION_NOT_DURABLE' })
  expect(filesOf(world).filter((path) => !path.startsWith('s/'))).toEqual([])
})

// session-log.md 2.1, 2.3
test('a close during a sync that fails tells everybody who waits, keeps what was acknowledged, and lets the session go', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  await session.durable()
  const release = world.disk.hold('datasync')
  user(session, 'being synced')
  const first = [session.durable(), session.durable()]
  await quiet()
  user(session, 'waits for the next')
  const next = [session.durable(), session.durable()]
  const closing = session.close()
  world.disk.failNext('datasync', 'EIO', { times: 2 })
  release()
  const outcomes = await Promise.allSettled([...first, ...next, closing])
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'SESSION_NOT_DURABLE' } })
  expect([sessions.get('s'), world.disk.openFiles]).toEqual([undefined, 0])
  const after = await (await mount(world.reboot({ keep: 'none' }))).sessions.open('s')
  expect(texts(after)).toEqual(['message 1'])
})
