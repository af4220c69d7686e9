import type { SimWorld } from '@sluice/testkit'
import { everyCrash } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { LOST_MAX } from '../src/index.ts'
import { encodeRecord } from '../src/record.ts'
import { DIR, filesOf, LOG, linesOf, machineWith, mount, otherProcess, texts, user, withLog } from './kit.ts'

/** Event 5 lost, event 8 twice, a bad bit in event 2. */
async function damaged(): Promise<SimWorld> {
  const world = await machineWith(9)
  const lines = linesOf(world)
  lines[2] = (lines[2] ?? '').replace('message', 'massage')
  lines.splice(5, 1)
  lines.splice(7, 0, lines[7] ?? '')
  return withLog(world, `${lines.join('\n')}\n`)
}

test('repair names what is lost, keeps all that is good and the file as it was, and lets writing go on', async () => {
  const world = await damaged()
  const before = world.disk.text(LOG)
  const { sessions } = await mount(world)
  const { findings, lost, backup } = await sessions.repair('s')
  expect(findings).toHaveLength(4)
  expect(lost).toBe(2)
  expect(backup).toBe(`${DIR}/s/damaged-1.jsonl`)
  expect(world.disk.text(String(backup))).toBe(before)
  const session = await sessions.open('s')
  expect(session.findings).toEqual([])
  expect(session.writable).toBe(true)
  expect(session.events.map((event) => event.seq)).toEqual([...session.events.keys()])
  expect(texts(session).map((text) => Number(text.slice(8)))).toEqual([1, 3, 4, 6, 7, 8, 9])
  expect(session.events.filter((event) => event.type === 'session/lost').map((event) => event.seq)).toEqual([2, 5])
  user(session, 'on')
  await session.close()
  expect(await sessions.repair('s')).toEqual({ findings: [], lost: 0 })
})

test('repair cuts a torn tail, and keeps it too', async () => {
  const world = await machineWith(2)
  const before = world.disk.text(LOG) ?? ''
  withLog(world, `${before}{"seq":3,"at"`)
  const { sessions } = await mount(world)
  const { findings, lost, backup } = await sessions.repair('s')
  expect([findings.map(({ kind }) => kind), lost]).toEqual([['torn-tail'], 0])
  expect(world.disk.text(LOG)).toBe(before)
  expect(world.disk.text(String(backup))).toContain('{"seq":3,"at"')
})

test('a log that lost its beginning is a session again', async () => {
  const world = await machineWith(3)
  withLog(world, `x${world.disk.text(LOG)}`)
  const { sessions } = await mount(world)
  await sessions.repair('s')
  const session = await sessions.open('s')
  expect(session.events[0]?.data).toEqual({ format: 1, id: 's', cwd: '' })
  expect(texts(session)).toHaveLength(3)
})

test('a second repair does not write over the first backup', async () => {
  const world = await damaged()
  const { sessions } = await mount(world)
  await sessions.repair('s')
  withLog(world, `garbage\n${world.disk.text(LOG)}`)
  await sessions.repair('s')
  expect(filesOf(world)).toEqual(['s/damaged-1.jsonl', 's/damaged-2.jsonl', 's/events.jsonl', 's/index'])
})

test('a log whose numbers make no sense is not filled up', async () => {
  const world = await machineWith(1)
  const far = { seq: LOST_MAX * 10, at: 1, type: 'turn/started', data: { turn: 1 } }
  withLog(world, `${world.disk.text(LOG)}${encodeRecord(JSON.stringify(far))}`)
  const before = world.disk.tree(DIR)
  const { sessions } = await mount(world)
  await expect(sessions.repair('s')).rejects.toMatchObject({ code: 'SESSION_BEYOND_REPAIR' })
  expect(world.disk.tree(DIR)).toEqual(before)
})

test('a damaged session cannot be forked, and one being written cannot be repaired', async () => {
  const world = await damaged()
  const { sessions } = await mount(world)
  const ended = { seq: 10, at: 1, type: 'turn/ended', data: { turn: 1, reason: 'completed' } }
  withLog(world, `${world.disk.text(LOG)}${encodeRecord(JSON.stringify(ended))}`)
  await expect(sessions.fork('s')).rejects.toThrow('damaged at line 3')
  await sessions.repair('s')
  world.processes.plant({ pid: world.host.pid })
  await sessions.open('s')
  await expect((await mount(otherProcess(world, 9))).sessions.repair('s')).rejects.toMatchObject({
    code: 'SESSION_LOCKED',
  })
})

test('whenever the machine dies during a repair, the damaged or the whole log is there', async () => {
  const machine = await damaged()
  const before = machine.disk.text(LOG)
  await everyCrash({
    make: () => machine.reboot({ keep: 'all' }),
    act: async (world) => (await mount(world)).sessions.repair('s'),
    async check(world) {
      const { sessions } = await mount(world)
      const session = await sessions.open('s', 'read')
      expect(texts(session)).toHaveLength(7)
      if (session.findings.length > 0) expect(world.disk.text(LOG)).toBe(before)
      await sessions.repair('s')
      expect((await sessions.open('s')).writable).toBe(true)
    },
  })
})

test('a long log is repaired piece by piece', async () => {
  const world = await damaged()
  const session = await (await mount(await machineWith(0))).sessions.open('s')
  const more = Array.from({ length: 8 }, (_, i) => ({ ...user(session, 'x'.repeat(600_000)), seq: 10 + i }))
  withLog(world, `${world.disk.text(LOG)}${more.map((event) => encodeRecord(JSON.stringify(event))).join('')}`)
  const from = world.disk.effects.length
  await (await mount(world)).sessions.repair('s')
  const writes = world.disk.effects
    .slice(from)
    .flatMap(({ op, path, bytes }) => (op === 'write' && path.includes(LOG) ? [bytes] : []))
  expect(writes).toHaveLength(5)
  expect(linesOf(world)).toHaveLength(18)
})
