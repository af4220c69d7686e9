import { describe, expect, test } from 'vitest'
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

// 4.2
describe('a list, a scan and a load agree on the last event', () => {
  const long = 'x'.repeat(100_000)
  const message = (seq: number, text: string) =>
    encodeRecord(
      JSON.stringify({ seq, at: 1, type: 'user/message', data: { content: [{ type: 'text', text }], source: 'user' } }),
    )
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
