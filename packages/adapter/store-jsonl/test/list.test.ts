import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SessionEvent } from '@sluice/session'
import { jsonlStore } from '../src/index.ts'
import { encodeRecord } from '../src/record.ts'
import { counted, DIR, LOG, machineWith, mount, user, withLog } from './kit.ts'

const sumOf = (reads: readonly number[]) => reads.reduce((sum, bytes) => sum + bytes, 0)

test('a list reads the beginning and the end of each log only', async () => {
  const machine = await machineWith(0)
  const { sessions } = await mount(machine)
  const session = await sessions.open('s')
  user(session, 'x'.repeat(3_000_000))
  user(session, 'last but one')
  const { seq, at } = user(session, 'last')
  await session.close()
  const { world, reads } = counted(machine)
  const list = await jsonlStore(world, DIR).list()
  expect(list.map(({ id, path, last }) => [id, path, last])).toEqual([['s', LOG, { seq, at }]])
  expect(sumOf(reads)).toBeLessThanOrEqual(100 << 10)
})

test('a link to a folder that holds a log is a session like any other, and nothing else is one', async () => {
  const world = await machineWith(2)
  world.disk.plant({
    '/elsewhere/t/events.jsonl': { content: world.disk.text(LOG) ?? '', mode: 0o600 },
    [`${DIR}/t`]: { link: '/elsewhere/t' },
    [`${DIR}/empty`]: null,
    [`${DIR}/dangling`]: { link: '/elsewhere/nothing' },
    [`${DIR}/file`]: { link: LOG },
  })
  const { sessions } = await mount(world)
  const ids = async () => (await sessions.list()).map(({ id }) => id).sort()
  expect(await ids()).toEqual(['s', 't'])
  for (const id of ['empty', 'dangling', 'file']) {
    const ways = [sessions.open(id, 'read'), sessions.scan(id, () => {}), sessions.repair(id), sessions.remove(id)]
    for (const way of ways) await expect(way).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  }
  expect(await sessions.scan('t', () => {})).toEqual([])
  await sessions.remove('t')
  expect(await ids()).toEqual(['s'])
  expect(world.disk.tree('/elsewhere')).toEqual({ '/elsewhere/t': null })
})

const INDEX = `${DIR}/s/index`
const message = (seq: number, text: string) =>
  encodeRecord(
    JSON.stringify({ seq, at: 1, type: 'user/message', data: { content: [{ type: 'text', text }], source: 'user' } }),
  )

/** What stands at the end of a log that its writer has not put there, or not so. */
const damage = fc.oneof<fc.Arbitrary<(log: Buffer) => Buffer>[]>(
  // A second writer, or a copy: records that stand there already, more than fill the end, and some that leave a gap.
  fc
    .record({ from: fc.nat(720), count: fc.nat(400), length: fc.constantFrom(1, 200) })
    .map(({ from, count, length }) => (log) => {
      const more = Array.from({ length: count }, (_, n) => message(from + n, 'x'.repeat(length)))
      return Buffer.concat([log, Buffer.from(more.join(''))])
    }),
  fc.nat(30_000).map((bytes) => (log) => log.subarray(0, Math.max(1, log.length - bytes))),
  fc
    .record({ back: fc.nat(30_000), cut: fc.nat(300), bytes: fc.uint8Array({ maxLength: 300 }) })
    .map(({ back, cut, bytes }) => (log) => {
      const at = Math.max(0, log.length - 1 - back)
      return Buffer.concat([log.subarray(0, at), bytes, log.subarray(at + cut)])
    }),
  // Lines written over by earlier ones of the same length.
  fc.record({ from: fc.nat(700), back: fc.nat(250) }).map(({ from, back }) => (log) => {
    const lines = log.toString('latin1').split('\n')
    const changed = lines.map((line, at) =>
      at < from || lines[at - back]?.length !== line.length ? line : lines[at - back],
    )
    return Buffer.from(changed.join('\n'), 'latin1')
  }),
  fc.nat(40_000).map((bytes) => (log) => Buffer.concat([log, Buffer.alloc(bytes)])),
)

// 4.2
test('whatever stands at the end of a log, and whatever its index says, a list and a load agree on the last event', async () => {
  const machine = await machineWith(200)
  const before = machine.disk.text(INDEX) ?? ''
  const session = await (await mount(machine)).sessions.open('s')
  for (let n = 100; n < 600; n++) user(session, `later message ${n}`)
  await session.close()
  const whole = Buffer.from(machine.disk.text(LOG) ?? '')
  const index = fc.constantFrom(machine.disk.text(INDEX) ?? '', before, '')
  const damages = fc.array(damage, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(damages, index, async (changes, text) => {
      const log = changes.reduce<Buffer>((bytes, change) => change(bytes), whole)
      machine.disk.plant({ [LOG]: { content: log, mode: 0o600 }, [INDEX]: text })
      const store = jsonlStore(machine, DIR)
      const [summary] = await store.list()
      const events: SessionEvent[] = []
      await store
        .scan('s', (event) => events.push(event))
        .catch((error: unknown) => {
          if ((error as { code?: string }).code !== 'SESSION_NOT_A_LOG') throw error
        })
      const last = events.at(-1)
      expect(summary?.last).toEqual(last && { seq: last.seq, at: last.at })
    }),
    { numRuns: 150 },
  )
})

// 4.2
describe('a list, a scan and a load agree on the last event', () => {
  const long = 'x'.repeat(100_000)
  test.each<[string, (log: string) => string]>([
    ['whole', (log) => log],
    ['with a torn tail', (log) => `${log}{"seq":6,"at"`],
    ['with a long torn tail', (log) => `${log}${message(6, long).slice(0, -9)}`],
    ['with zeros at its end', (log) => `${log}${'\0'.repeat(50_000)}`],
    ['ending with a long record', (log) => log + message(6, long)],
    ['with a bad line before the last', (log) => `${log}garbage\n${message(6, 'x')}`],
    ['with a gap before the last', (log) => log + message(9, 'x')],
    ['with events that stand twice at its end', (log) => log + message(4, 'x') + message(5, 'x')],
    [
      'with a long event that stands twice at its end',
      (log) => log + [6, 7, 8, 3].map((seq) => message(seq, long)).join(''),
    ],
    ['with a bad first line', (log) => `x${log}`],
    ['without its first line', (log) => log.slice(log.indexOf('\n') + 1)],
    ['that begins with a long line', (log) => `${long}\n${log}`],
  ])('of a log %s', async (_, change) => {
    const machine = await machineWith(5)
    withLog(machine, change(machine.disk.text(LOG) ?? ''))
    const { sessions } = await mount(machine)
    const scanned: number[] = []
    const findings = await sessions.scan('s', (event) => void scanned.push(event.seq))
    const [summary] = await sessions.list()
    const loaded = (await sessions.open('s', 'read')).events.at(-1)?.seq
    expect([summary?.last?.seq, scanned.at(-1)]).toEqual([loaded, loaded])
    expect(summary?.damage).toEqual(findings.find(({ kind }) => kind !== 'torn-tail'))
  })
})
