import type { LogHolder } from '@sluice/session'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, filesOf, machineWith, mount, otherProcess, texts, user } from './kit.ts'

const LOCK = `${DIR}/s/lock`

// BUG-013
test('a second process is refused with the holder, and succeeds without cleaning up once the holder is dead', async () => {
  const machine = await machineWith(1)
  machine.processes.plant({ pid: 4242, startedAt: 'then' })
  const first = await (await mount(machine)).sessions.open('s')
  user(first, 'from the first')
  await first.durable()
  const second = await mount(otherProcess(machine, 4300))
  await expect(second.sessions.open('s')).rejects.toMatchObject({
    code: 'SESSION_LOCKED',
    data: { pid: 4242, host: 'sim' },
  })
  expect((await second.sessions.open('s', 'read')).events.length).toBe(4)
  machine.processes.killGroup(4242, 'SIGKILL')
  const session = await second.sessions.open('s')
  user(session, 'from the second')
  await session.close()
  expect(texts(session)).toEqual(['message 1', 'from the first', 'from the second'])
  expect(session.events.map((event) => event.seq)).toEqual([...session.events.keys()])
  expect(filesOf(machine)).toEqual(['s/events.jsonl', 's/index'])
})

test('a process that got the pid of a dead owner is not taken for it', async () => {
  const machine = await machineWith(1)
  machine.processes.plant({ pid: 4242, startedAt: 'then' })
  await (await mount(machine)).sessions.open('s')
  machine.processes.plant({ pid: 4242, startedAt: 'later' })
  const session = await (await mount(otherProcess(machine, 4300))).sessions.open('s')
  expect(session.writable).toBe(true)
})

test('a lock of another host is respected, for nobody here can see whether its owner lives', async () => {
  const machine = await machineWith(1)
  const elsewhere = { ...machine, host: { ...machine.host, hostname: 'elsewhere', pid: 9 } }
  await (await mount(elsewhere)).sessions.open('s')
  await expect((await mount(machine)).sessions.open('s')).rejects.toMatchObject({
    code: 'SESSION_LOCKED',
    data: { pid: 9, host: 'elsewhere' },
  })
})

test('a person can take a session away from a host that is gone, and from no other holder', async () => {
  const machine = await machineWith(1)
  const elsewhere = { ...machine, host: { ...machine.host, hostname: 'elsewhere', pid: 9 } }
  const lost = await (await mount(elsewhere)).sessions.open('s')
  user(lost, 'from elsewhere')
  await lost.durable()
  const { sessions } = await mount(machine)
  const holder = await sessions.holder('s')
  expect(holder).toMatchObject({ pid: 9, host: 'elsewhere' })
  await expect(sessions.unlock('s', { pid: 9, host: 'elsewhere', token: 'other' })).rejects.toMatchObject({
    code: 'SESSION_LOCKED',
  })
  await sessions.unlock('s', holder as LogHolder)
  expect(await sessions.holder('s')).toBeUndefined()
  machine.processes.plant({ pid: machine.host.pid })
  const session = await sessions.open('s')
  user(session, 'from here')
  await session.durable()
  const own = (await sessions.holder('s')) as LogHolder
  await expect(sessions.unlock('s', own)).rejects.toMatchObject({ code: 'SESSION_LOCKED' })
  // The other host was not gone after all: what it writes goes to a file that nobody reads any more.
  user(lost, 'too late')
  await lost.durable()
  await session.close()
  expect(texts(await sessions.open('s', 'read'))).toEqual(['message 1', 'from elsewhere', 'from here'])
})

test('a lock left unreadable by a loss of power is taken over', async () => {
  const machine = await machineWith(1)
  for (const content of ['', '\0\0\0', 'null', '{"pid":1}', '{"pid":1,"host":"sim","token":"../x"}']) {
    machine.disk.plant({ [LOCK]: content })
    const session = await (await mount(machine)).sessions.open('s')
    await session.close()
    expect(filesOf(machine)).toEqual(['s/events.jsonl', 's/index'])
  }
})

test.each([
  ['a directory', null],
  ['a fifo', { kind: 'fifo' }],
  ['a link', { link: '/proj/elsewhere' }],
  ['a file too long', 'x'.repeat(5_000)],
] as const)('%s in place of a lock is named with its path', async (_, seed) => {
  const machine = await machineWith(1)
  machine.disk.plant({ [LOCK]: seed })
  const { sessions } = await mount(machine)
  await expect(sessions.open('s')).rejects.toMatchObject({ code: 'STORE_UNREADABLE', data: { path: LOCK } })
  expect((await sessions.open('s', 'read')).events).toHaveLength(2)
  expect(filesOf(machine)).toEqual(['s/events.jsonl', 's/index', 's/lock'])
})

test('of many processes that find a dead owner exactly one gets the session', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const machine = await machineWith(1, { seed, shuffleTurns: 5 })
    await (await mount(machine)).sessions.open('s')
    const pids = [1, 2, 3, 4, 5].map((n) => 5000 + n)
    for (const pid of pids) machine.processes.plant({ pid })
    const tries = pids.map(async (pid) => {
      const { log } = await jsonlStore(otherProcess(machine, pid), DIR).open('s', 'write')
      return log
    })
    const results = await Promise.allSettled(tries)
    const codes = results.map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : 'got it',
    )
    expect(codes.toSorted(), `seed ${seed}`).toEqual([...Array<string>(4).fill('SESSION_LOCKED'), 'got it'])
  }
})

test('a process that died while taking over is followed in its turn', async () => {
  const machine = await machineWith(1)
  const dead = (token: string) => JSON.stringify({ pid: 77, host: 'sim', token })
  machine.disk.plant({
    [LOCK]: dead('lock_a'),
    [`${DIR}/s/lock.after-lock_a`]: dead('lock_b'),
    [`${DIR}/s/lock.after-lock_b`]: dead('lock_c'),
  })
  const session = await (await mount(machine)).sessions.open('s')
  expect(session.writable).toBe(true)
})

test('what dead writers left half done is swept by the next one', async () => {
  const machine = await machineWith(1)
  const dead = JSON.stringify({ pid: 77, host: 'sim', token: 'lock_a' })
  machine.disk.plant({
    [`${DIR}/s/lock_a.tmp`]: dead,
    [`${DIR}/s/lock.after-lock_z`]: dead,
    [`${DIR}/s/events.jsonl.tmp`]: 'x',
    [`${DIR}/s/cut-3-00000000.bin.tmp`]: 'x',
    [`${DIR}/s/mine.txt`]: 'stays',
  })
  const session = await (await mount(machine)).sessions.open('s')
  await session.close()
  expect(filesOf(machine)).toEqual(['s/events.jsonl', 's/index', 's/mine.txt'])
})

test('a lock that the disk did not let go is given up when its session closes', async () => {
  const machine = await machineWith(1)
  machine.processes.plant({ pid: 4242, startedAt: 'then' })
  const { sessions } = await mount(machine)
  const first = await sessions.open('s')
  await first.durable()
  machine.disk.failNext('unlink', 'EIO')
  await first.close()
  expect(filesOf(machine)).toContain('s/lock')
  expect((await sessions.open('s')).writable).toBe(true)
})
