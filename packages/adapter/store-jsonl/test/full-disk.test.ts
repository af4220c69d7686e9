import { CHECKPOINT_EVENTS } from '@sluice/session'
import type { SimWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { DIR, LOG, linesOf, machineWith, mount, quiet, user, withLog } from './kit.ts'

/** Leaves so much room on the disk. */
function room(world: SimWorld, bytes: number): void {
  const used = Object.values(world.disk.tree()).reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), 0)
  world.disk.limit(used + bytes)
}

const halves = ({ disk }: SimWorld) => Object.keys(disk.tree(DIR)).filter((path) => path.endsWith('.tmp'))

// session-log.md 2.3
test('a blob or checkpoint that does not fit on the disk takes no room from the log', async () => {
  const world = await machineWith(1)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  await session.putBlob(Buffer.from('small'), { mediaType: 'text/plain' })
  await session.durable()
  room(world, 2_000)
  const large = session.putBlob(Buffer.alloc(5_000), { mediaType: 'text/plain' })
  await expect(large).rejects.toMatchObject({ code: 'STORE_UNWRITABLE', data: { code: 'ENOSPC' } })
  expect(halves(world)).toEqual([])
  user(session, 'x'.repeat(1_500))
  await session.durable()
  world.disk.limit(undefined)
  for (let i = 0; i < CHECKPOINT_EVENTS; i++) user(session, `message ${i}`)
  await session.durable()
  room(world, 2_000)
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  await session.durable()
  await quiet()
  expect(halves(world)).toEqual([])
  user(session, 'x'.repeat(1_000))
  await session.close()
})

// session-log.md 4.1
test('a repair that does not fit on the disk leaves the log as it was, and no half of another', async () => {
  const world = await machineWith(9)
  const lines = linesOf(world)
  lines.splice(5, 1)
  withLog(world, `${lines.join('\n')}\n`)
  const before = world.disk.text(LOG)
  const { sessions } = await mount(world)
  room(world, 600)
  await expect(sessions.repair('s')).rejects.toMatchObject({ code: 'STORE_UNWRITABLE', data: { code: 'ENOSPC' } })
  expect([world.disk.text(LOG), halves(world)]).toEqual([before, []])
  world.disk.limit(undefined)
  expect(await sessions.repair('s')).toMatchObject({ lost: 1 })
  expect((await sessions.open('s')).writable).toBe(true)
})
