import type { World } from '@sluice/base'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, LOG, machineWith, mount, user } from './kit.ts'

/** The same World, with a count of the bytes that are read. */
function counted(world: World): { world: World; read: () => number } {
  let bytes = 0
  const open: World['disk']['open'] = async (path, options) => {
    const file = await world.disk.open(path, options)
    const read: typeof file.read = async (into, position) => {
      const count = await file.read(into, position)
      bytes += count
      return count
    }
    return Object.assign(Object.create(file) as typeof file, { read })
  }
  const disk = Object.assign(Object.create(world.disk) as World['disk'], { open })
  return { world: { ...world, disk }, read: () => bytes }
}

test('a list reads the beginning of each log only', async () => {
  const machine = await machineWith(0)
  const { sessions } = await mount(machine)
  const session = await sessions.open('s')
  user(session, 'x'.repeat(3_000_000))
  await session.close()
  const { world, read } = counted(machine)
  expect((await jsonlStore(world, DIR).list()).map(({ id, path }) => [id, path])).toEqual([['s', LOG]])
  expect(read()).toBeLessThanOrEqual(64 << 10)
})

test('a resume from a checkpoint reads nothing that came before it', async () => {
  const machine = await machineWith(0)
  const { sessions } = await mount(machine)
  const session = await sessions.open('s')
  user(session, 'x'.repeat(3_000_000))
  session.append('compaction/done', { upTo: session.events.length - 1, summary: 'S' })
  for (let turn = 0; turn < 60; turn++) {
    session.append('turn/started', { turn })
    session.append('turn/ended', { turn, reason: 'completed' })
  }
  await session.close()
  const { world, read } = counted(machine)
  const resumed = await (await mount(world)).sessions.open('s', 'read', { checkpoint: true })
  expect(resumed.messages()).toHaveLength(1)
  expect(read()).toBeLessThan(20_000)
})

test('a scan and a load agree on the last event', async () => {
  const machine = await machineWith(5)
  const { sessions } = await mount(machine)
  const seen: number[] = []
  expect(await sessions.scan('s', (event) => void seen.push(event.seq))).toEqual([])
  expect(seen.at(-1)).toBe((await sessions.open('s', 'read')).events.at(-1)?.seq)
})
