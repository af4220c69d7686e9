import { CHECKPOINT_EVENTS, type Fold, type Session, type SessionEvent } from '@sluice/session'
import type { SimWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, LOG, machineWith, mount, quiet, user } from './kit.ts'

const INDEX = `${DIR}/s/index`

const counted: Fold<{ messages: number }> = {
  name: 'test/counted',
  version: 1,
  initial: { messages: 0 },
  step: (state, event: SessionEvent) => (event.type === 'user/message' ? { messages: state.messages + 1 } : state),
}

function talk(session: Session, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    session.append('turn/started', { turn: i })
    user(session, `question ${i} é 漢 😀`)
    session.append('assistant/message', { content: [{ type: 'text', text: `${i}` }], finish: 'stop', model: 'm' })
    session.append('turn/ended', { turn: i, reason: 'completed' })
  }
}

/** A closed session of 300 turns with a checkpoint. */
async function longSession(): Promise<SimWorld> {
  const world = await machineWith(0)
  const { sessions } = await mount(world)
  sessions.registerFold(counted)
  const session = await sessions.open('s')
  talk(session, 0, 300)
  await session.close()
  return world
}

test('a resumed session has the history and the folds of the whole log without reading it', async () => {
  const world = await longSession()
  const { sessions } = await mount(world)
  sessions.registerFold(counted)
  const whole = await sessions.open('s', 'read')
  const session = await sessions.open('s')
  expect(session.firstSeq).toBeGreaterThan(1_000)
  expect(session.events.slice(0, -1)).toEqual(whole.events.slice(session.firstSeq))
  expect(session.messages()).toEqual(whole.messages())
  expect(session.fold(counted)).toEqual({ messages: 300 })
  expect(session.cwd).toBe('/proj')
  talk(session, 300, 301)
  expect(session.fold(counted)).toEqual({ messages: 301 })
  expect(session.events.at(-1)?.seq).toBe(whole.events.length + 4)
  await session.close()
  const after = await sessions.open('s', 'read')
  expect(after.findings).toEqual([])
  expect(after.events).toHaveLength(whole.events.length + 5)
})

test('a checkpoint is kept at the end of a turn of a long session, and only its tail is read', async () => {
  const world = await machineWith(0)
  const first = await mount(world)
  const session = await first.sessions.open('s')
  talk(session, 0, 400)
  await session.close()
  const after = world.reboot({ keep: 'all' })
  const again = await (await mount(after)).sessions.open('s')
  expect(again.firstSeq).toBeGreaterThanOrEqual(1000)
  expect(again.messages()).toHaveLength(800)
})

test('work left open after the checkpoint is closed like any other', async () => {
  const world = await longSession()
  const { sessions } = await mount(world)
  sessions.registerFold(counted)
  const session = await sessions.open('s')
  const call = { type: 'tool-call', id: 'c', name: 'probe', argumentsText: '{}' } as const
  session.append('assistant/message', { content: [call], finish: 'tool-calls', model: 'm' })
  await session.close()
  const again = await sessions.open('s')
  expect(again.events.map((event) => event.type).slice(-3)).toEqual([
    'tool/result',
    'session/repaired',
    'session/resumed',
  ])
})

test('a checkpoint that lacks a registered fold, or has another version of it, is not used', async () => {
  const world = await longSession()
  const other = await mount(world)
  other.sessions.registerFold({ ...counted, version: 2 })
  const whole = await other.sessions.open('s')
  expect(whole.firstSeq).toBe(0)
  await whole.close()
  const third = await mount(world)
  third.sessions.registerFold({ ...counted, name: 'test/other' })
  expect((await third.sessions.open('s')).firstSeq).toBe(0)
})

test('a fold that the checkpoint does not hold is refused, not answered wrongly', async () => {
  const world = await longSession()
  const session = await (await mount(world)).sessions.open('s')
  expect(() => session.fold({ ...counted, name: 'test/never-registered' })).toThrow(
    expect.objectContaining({ code: 'SESSION_FOLD_NOT_KEPT' }),
  )
  expect(session.fold(counted)).toEqual({ messages: 300 })
})

test.each([
  ['torn', (text: string) => text.slice(0, 100)],
  ['changed', (text: string) => text.replace('question 7', 'question 8')],
  ['of another version', () => '{"v":9,"crc":"00000000"}\n'],
  ['empty', () => ''],
])('an index that is %s is no loss', async (_, change) => {
  const world = await longSession()
  world.disk.plant({ [INDEX]: change(world.disk.text(INDEX) ?? '') })
  const session = await (await mount(world)).sessions.open('s')
  expect(session.firstSeq).toBe(0)
  expect(session.messages()).toHaveLength(600)
})

test('a checkpoint of another log is not used', async () => {
  const world = await longSession()
  const text = world.disk.text(LOG) ?? ''
  world.disk.plant({ [LOG]: { content: text.slice(0, text.length >> 1), mode: 0o600 } })
  const session = await (await mount(world)).sessions.open('s')
  expect(session.firstSeq).toBe(0)
  expect(session.findings).toMatchObject([{ kind: 'torn-tail' }])
})

test('a fold whose states are not JSON keeps the session from having checkpoints, nothing else', async () => {
  const world = await machineWith(0)
  const { sessions } = await mount(world)
  sessions.registerFold({ name: 'test/set', version: 1, initial: new Set(), step: (state) => state })
  const session = await sessions.open('s')
  talk(session, 0, 300)
  await session.close()
  expect(world.disk.text(INDEX)).not.toContain('state')
  expect((await sessions.open('s')).firstSeq).toBe(0)
})

test('a checkpoint that cannot be written is no failure of the session', async () => {
  const world = await machineWith(0)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  talk(session, 0, 300)
  await session.durable()
  world.disk.failNext('create', 'ENOSPC')
  await session.close()
  expect((await sessions.open('s')).messages()).toHaveLength(600)
})

test('checkpoints are kept one at a time, and one that is overtaken is left out', async () => {
  const world = await machineWith(0)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  const drafts = () => world.disk.effects.filter(({ op, path }) => op === 'create' && path === `${INDEX}.tmp`).length
  const release = world.disk.hold('rename')
  for (const turns of [0, 300, 600, 900]) {
    talk(session, turns, turns + 300)
    await session.durable()
    await quiet()
    expect(drafts()).toBe(1)
  }
  release()
  await session.close()
  expect(drafts()).toBe(2)
  const again = await sessions.open('s')
  expect(again.firstSeq).toBeGreaterThan(3_000)
})

test('checkpoints that overtake each other leave the newest', async () => {
  const world = await machineWith(0)
  const { sessions } = await mount(world)
  const session = await sessions.open('s')
  const release = world.disk.hold('datasync')
  talk(session, 0, 800)
  release()
  await session.close()
  const again = await sessions.open('s')
  expect(again.firstSeq).toBeGreaterThan(3_000)
})

test('an index that cannot be read is no index', async () => {
  const machine = await machineWith(0)
  const session = await (await mount(machine)).sessions.open('s')
  for (let turn = 0; turn < CHECKPOINT_EVENTS; turn++) {
    session.append('turn/started', { turn })
    session.append('turn/ended', { turn, reason: 'completed' })
  }
  await session.close()
  const { sessions } = await mount(machine)
  const again = await sessions.open('s')
  expect(again.firstSeq).toBeGreaterThan(0)
  await again.close()
  machine.disk.failNext('open', 'EACCES', { path: INDEX })
  expect((await sessions.open('s')).firstSeq).toBe(0)
})

test('a checkpoint that fails while another is being kept harms nobody', async () => {
  const machine = await machineWith(0)
  const { log } = await jsonlStore(machine, DIR).open('s', 'write')
  const next = (seq: number) => log.write({ seq, at: 1, type: 'user/message', data: {} })
  next(1)
  await log.durable(1)
  const release = machine.disk.hold('rename')
  const first = log.keepCheckpoint?.({ seq: 1, state: {} })
  await quiet()
  next(2)
  machine.disk.failNext('write', 'ENOSPC', { path: LOG })
  const second = expect(log.keepCheckpoint?.({ seq: 2, state: {} })).rejects.toMatchObject({ code: 'STORE_UNWRITABLE' })
  await quiet()
  release()
  await first
  await second
  await log.close()
})
