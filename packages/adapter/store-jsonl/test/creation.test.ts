import { simWorld, worldPlugin } from '@sluice/testkit'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import * as storePlugin from '../src/index.ts'
import { BACKLOG_MAX, defaultRoot, jsonlStore } from '../src/index.ts'
import { DIR, filesOf, LOG, linesOf, machineWith, mount, texts, user } from './kit.ts'

test('nothing is on disk before the first write', async () => {
  const world = simWorld()
  const log = await jsonlStore(world, DIR).create('s')
  await log.close()
  expect(world.disk.effectCount).toBe(0)
})

test('the log appears whole, synced and private', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  await session.durable()
  const effects = world.disk.effects.map((effect) => `${effect.op} ${effect.path.slice(DIR.length)}`)
  const at = effects.indexOf('rename /s/events.jsonl')
  expect(effects.slice(at - 3, at + 2)).toEqual([
    'create /s/events.jsonl.tmp',
    'write /s/events.jsonl.tmp',
    'sync /s/events.jsonl.tmp',
    'rename /s/events.jsonl',
    'syncDir /s',
  ])
  expect((await world.disk.stat(LOG)).mode).toBe(0o600)
  expect((await world.disk.stat(`${DIR}/s`)).mode).toBe(0o700)
})

test('a durable session survives the loss of power at once', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  user(session, 'kept')
  await session.durable()
  user(session, 'not waited for')
  const after = world.reboot({ keep: 'none' })
  const again = await (await mount(after)).sessions.open('s')
  expect(again.events.map((event) => event.type)).toEqual(['session/started', 'user/message', 'session/resumed'])
})

test('keys of a line are in fixed order and one line is one event', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  session.append('turn/started', { turn: 1 }, { cause: 0 })
  await session.close()
  expect(linesOf(world).map((line) => Object.keys(JSON.parse(line) as object))).toEqual([
    ['seq', 'at', 'type', 'data', 'crc'],
    ['seq', 'at', 'type', 'data', 'cause', 'crc'],
  ])
})

test('a closed session leaves its log and an index only', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  await session.close()
  expect(filesOf(world)).toEqual(['s/events.jsonl', 's/index'])
  expect(world.disk.openFiles).toBe(0)
})

test('sessions live in the XDG data folder unless told otherwise', async () => {
  const { host } = simWorld()
  expect(defaultRoot(host)).toBe('/home/user/.local/share/sluice/sessions')
  expect(defaultRoot({ ...host, env: { XDG_DATA_HOME: '/data' } })).toBe('/data/sluice/sessions')
  expect(defaultRoot({ ...host, env: { XDG_DATA_HOME: 'relative' } })).toBe('/home/user/.local/share/sluice/sessions')
})

test('unloading the store leaves nothing behind', async () => {
  const ctx = new Context()
  await ctx.plugin(worldPlugin(simWorld()))
  const before = ctx.fiber.getEffects().length
  const fiber = await ctx.plugin(storePlugin, {})
  expect(ctx.get('sessionStore')?.kind).toBe('jsonl')
  await fiber.dispose()
  expect(ctx.get('sessionStore')).toBeUndefined()
  expect(ctx.fiber.getEffects()).toHaveLength(before)
})

test('a past that is longer than what may wait in memory can be forked', async () => {
  const machine = await machineWith(0)
  const { sessions } = await mount(machine)
  const session = await sessions.open('s')
  for (let left = BACKLOG_MAX; left > 0; left -= 7_000_000) {
    user(session, 'x'.repeat(7_000_000))
    await session.durable()
  }
  session.append('turn/started', { turn: 1 })
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  await session.close()
  const child = await sessions.fork('s', { id: 'child' })
  await child.close()
  expect(texts(await sessions.open('child', 'read'))).toEqual(texts(session))
})

test('a log that has its name, but not for certain, is made durable by whoever waits next', async () => {
  const world = simWorld()
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  user(session, 'a')
  world.disk.failNext('syncDir', 'EIO', { path: `${DIR}/s` })
  await expect(session.durable()).rejects.toThrow('EIO')
  user(session, 'b')
  await session.durable()
  expect(texts(await (await mount(world.reboot({ keep: 'none' }))).sessions.open('s'))).toEqual(['a', 'b'])
})
