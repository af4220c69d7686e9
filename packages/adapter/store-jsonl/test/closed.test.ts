import { expect, test } from 'vitest'
import { filesOf, LOG, machineWith, mount, texts, user } from './kit.ts'

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
