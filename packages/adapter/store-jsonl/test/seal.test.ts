import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { World } from '@sluice/base'
import type { Session } from '@sluice/session'
import * as sessionPlugin from '@sluice/session'
import { type SimWorld, simWorld } from '@sluice/testkit'
import { nodeWorld } from '@sluice/world-node'
import { Context } from 'cordis'
import { expect, onTestFinished, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { encodeRecord } from '../src/record.ts'
import { counted, DIR, LOG, machineWith, mount, user } from './kit.ts'

const INDEX = `${DIR}/s/index`

function talk(session: Session, turns: number): void {
  for (let turn = 1; turn <= turns; turn++) {
    session.append('turn/started', { turn })
    user(session, `question ${turn}`)
    session.append('turn/ended', { turn, reason: 'completed' })
  }
}

/** A session of 1,000 events, closed, with a checkpoint near its end. */
async function closedSession(): Promise<SimWorld> {
  const world = await machineWith(0)
  const session = await (await mount(world)).sessions.open('s')
  talk(session, 333)
  await session.close()
  return world
}

async function firstSeqOf(world: SimWorld): Promise<number> {
  const session = await (await mount(world)).sessions.open('s')
  await session.close()
  return session.firstSeq
}

/** Changes one byte of event 5 where it stands, as a program that knows nothing of sessions does. */
async function flip(world: SimWorld): Promise<void> {
  const at = (world.disk.text(LOG) ?? '').indexOf('question 2"')
  const file = await world.disk.open(LOG, { write: true })
  await file.write(Buffer.from('Q'), at)
  await file.close()
}

// session-log.md 4.1; performance.md T6
test('a resume reads nothing of the log before its checkpoint', async () => {
  const machine = await closedSession()
  const { size } = await machine.disk.stat(LOG)
  const { world, reads } = counted(machine, LOG)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  expect(session.firstSeq).toBeGreaterThan(700)
  expect(session.messages()).toHaveLength(333)
  const left = session.events.filter(({ seq }) => seq <= 1_000).length
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan((size * (left + 10)) / 1_000)
})

// session-log.md 4.1
test.each<[string, (world: SimWorld) => Promise<SimWorld | void>]>([
  [
    'written over in place',
    async (world) => {
      await world.clock.advance(1)
      await flip(world)
    },
  ],
  ['replaced by a copy', async (world) => world.disk.plant({ [LOG]: flipped(world) })],
  [
    'written over in place and made longer at the same moment',
    async (world) => {
      await flip(world)
      const file = await world.disk.open(LOG, { write: true })
      await file.write(Buffer.from('{'), (await file.stat()).size)
      await file.close()
    },
  ],
  [
    'written over while a writer held it that was then killed',
    async (world) => {
      const session = await (await mount(world)).sessions.open('s')
      await session.durable()
      await flip(world)
      return world.reboot({ keep: 'all' })
    },
  ],
])('a log that was %s is read as a whole, and its damage is told', async (_, change) => {
  const world = await closedSession()
  const after = (await change(world)) ?? world
  const session = await (await mount(after)).sessions.open('s')
  expect(session.firstSeq).toBe(0)
  expect(session.writable).toBe(false)
  expect(session.findings).toContainEqual(expect.objectContaining({ kind: 'bad-crc', line: 7 }))
})

function flipped(world: SimWorld): string {
  return (world.disk.text(LOG) ?? '').replace('question 2"', 'Question 2"')
}

// session-log.md 4.1: on a real disk, where a program can set every time of a file but its ctime.
test('a changed log is read as a whole although its size and its time of change were put back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-seal-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const open = async () => {
    const ctx = new Context()
    const world = nodeWorld()
    ctx.provide('world', world)
    ctx.provide('sessionStore', jsonlStore(world, dir))
    await ctx.plugin(sessionPlugin)
    return ctx.sessions
  }
  const first = await (await open()).create({ cwd: '/proj', id: 's' })
  talk(first, 333)
  await first.close()
  const log = join(dir, 's', 'events.jsonl')
  const again = await (await open()).open('s')
  expect(again.firstSeq).toBeGreaterThan(700)
  await again.durable()
  // A whole second, so that it can be put back exactly.
  utimesSync(log, 1_900_000_000, 1_900_000_000)
  await again.close()
  const { mtimeMs, ino, size } = statSync(log)
  const fd = openSync(log, 'r+')
  writeSync(fd, 'Q', readFileSync(log).indexOf('question 2"'))
  closeSync(fd)
  utimesSync(log, 1_900_000_000, 1_900_000_000)
  expect(statSync(log)).toMatchObject({ mtimeMs, ino, size })
  const session = await (await open()).open('s')
  expect(session.firstSeq).toBe(0)
  expect(session.findings).toMatchObject([{ kind: 'bad-crc' }, { kind: 'gap' }])
})

test('on a disk that knows no ctime the time of change tells that a log has been written over', async () => {
  const machine = simWorld()
  const open: World['disk']['open'] = async (path, options) => {
    const file = await machine.disk.open(path, options)
    const stat = async () => ({ ...(await file.stat()), ctimeMs: 0 })
    return Object.assign(Object.create(file) as typeof file, { stat })
  }
  const world = { ...machine, disk: Object.assign(Object.create(machine.disk) as typeof machine.disk, { open }) }
  const first = await (await mount(world)).sessions.create({ cwd: '/proj', id: 's' })
  talk(first, 333)
  await first.close()
  expect(await firstSeqOf(world)).toBeGreaterThan(700)
  await machine.clock.advance(1)
  await flip(world)
  expect(await firstSeqOf(world)).toBe(0)
})

test('what a bad disk changes without a trace is found by looking at the whole log', async () => {
  const world = await closedSession()
  await flip(world)
  const { sessions } = await mount(world)
  expect((await sessions.open('s')).findings).toEqual([])
  expect(await sessions.scan('s', () => {})).toMatchObject([{ kind: 'bad-crc', line: 7 }, { kind: 'gap' }])
})

test('after a crash the log is read as a whole once; the next turn keeps a checkpoint again', async () => {
  const world = await closedSession()
  const session = await (await mount(world)).sessions.open('s')
  await session.durable()
  const after = world.reboot({ keep: 'all' })
  const next = await (await mount(after)).sessions.open('s')
  expect(next.firstSeq).toBe(0)
  talk(next, 1)
  await next.close()
  expect(await firstSeqOf(after)).toBeGreaterThan(1_000)
})

test('sessions that end without a turn keep what the last checkpoint is good for', async () => {
  const world = await closedSession()
  const first = await firstSeqOf(world)
  expect(first).toBeGreaterThan(700)
  expect([await firstSeqOf(world), await firstSeqOf(world)]).toEqual([first, first])
})

test('a session that is opened as a whole has all events', async () => {
  const world = await closedSession()
  const session = await (await mount(world)).sessions.open('s', 'write', { whole: true })
  expect([session.firstSeq, session.events[0]?.type]).toEqual([0, 'session/started'])
  expect(session.fold({ name: 'test/any', version: 1, initial: 0, step: (n) => n + 1 })).toBe(session.events.length)
})

test('a fork of a resumed session has all of its past, on disk or not', async () => {
  const world = await closedSession()
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  talk(session, 1)
  const child = await sessions.fork('s')
  expect(session.firstSeq).toBeGreaterThan(0)
  expect(child.messages()).toEqual(session.messages())
  expect(child.events.map(({ seq }) => seq)).toEqual([...child.events.keys()])
})

/** The index with another first line under a seal that names `mark`. */
function reindexed(text: string, change: (line: string) => string, mark?: string): string {
  const [line = '', seal = ''] = text.split('\n')
  const next = encodeRecord(change(line).replace(/,"crc":"\w+"\}$/, '}'))
  const sealed = { ...(JSON.parse(seal) as object), mark: mark ?? next.slice(-11), crc: undefined }
  return next + encodeRecord(JSON.stringify(sealed))
}

test('an index under the seal of another, or of readers that had to know other types, is not believed', async () => {
  const world = await closedSession()
  const text = world.disk.text(INDEX) ?? ''
  const mark = text.slice(0, text.indexOf('\n') + 1).slice(-11)
  const attempts = [
    reindexed(text, (line) => line.replace('question 7', 'question 8'), mark),
    reindexed(text, (line) => line.replace('"types":"', '"types":"future/thing@1 ')),
    reindexed(text, (line) => line),
  ]
  const firsts: boolean[] = []
  for (const attempt of attempts) {
    const machine = world.reboot({ keep: 'all' })
    machine.disk.plant({ [INDEX]: attempt })
    firsts.push((await firstSeqOf(machine)) > 0)
  }
  expect(firsts).toEqual([false, false, true])
})

test.each([
  ['open', 'EACCES'],
  ['write', 'ENOSPC'],
  ['truncate', 'EIO'],
] as const)('a seal whose %s fails (%s) is no failure of the session', async (op, code) => {
  const world = await closedSession()
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  await session.durable()
  world.disk.failNext(op, code, { path: INDEX })
  await session.close()
  const again = await sessions.open('s')
  expect(again.findings).toEqual([])
  expect(again.messages()).toHaveLength(333)
})
