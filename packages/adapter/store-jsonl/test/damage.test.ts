import type { DiskFile } from '@sluice/base'
import type { SimWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { encodeRecord } from '../src/record.ts'
import { LINE_BYTES_MAX, scanLog } from '../src/scan.ts'
import { counted, DIR, filesOf, LOG, linesOf, machineWith, mount, texts, user, withLog } from './kit.ts'

async function reopened(world: SimWorld) {
  const { sessions } = await mount(world)
  return sessions.open('s')
}

const torn = {
  'a cut record': '{"seq":3,"at":17672',
  'a cut record and an empty line': '{"seq":3,"at":17672\n\n',
  zeros: '\0'.repeat(4096),
  'a whole line with a wrong crc': '{"seq":3,"at":1,"type":"turn/started","data":{"turn":1},"crc":"00000000"}\n',
}

// BUG-010
test.each(Object.entries(torn))(
  '%s at the end is cut before the first append, kept aside, and told once',
  async (_, tail) => {
    const world = await machineWith(2)
    withLog(world, `${world.disk.text(LOG)}${tail}`)
    const session = await reopened(world)
    expect(session.findings).toMatchObject([{ kind: 'torn-tail', line: 4 }])
    expect(session.writable).toBe(true)
    user(session, 'three')
    user(session, 'four')
    await session.close()
    const kept = filesOf(world).filter((path) => path.startsWith('s/cut-'))
    expect(kept.map((path) => world.disk.text(`${DIR}/${path}`))).toEqual([tail])
    for (const line of linesOf(world)) expect(() => JSON.parse(line) as unknown).not.toThrow()
    const again = await reopened(world)
    expect(again.findings).toEqual([])
    expect(texts(again)).toEqual(['message 1', 'message 2', 'three', 'four'])
  },
)

test('a torn tail is not touched by readers', async () => {
  const world = await machineWith(2)
  withLog(world, `${world.disk.text(LOG)}{"seq":3`)
  const before = world.disk.tree(DIR)
  const { events, findings } = await jsonlStore(world, DIR).open('s', 'read')
  expect(events).toHaveLength(3)
  expect(findings).toMatchObject([{ kind: 'torn-tail' }])
  expect(world.disk.tree(DIR)).toEqual(before)
})

// BUG-011
test('a damaged line in the middle is named, all other events are shown, and nothing can be appended', async () => {
  const world = await machineWith(39)
  const lines = linesOf(world)
  lines[19] = (lines[19] ?? '').slice(0, 40)
  const before = `${lines.join('\n')}\n`
  withLog(world, before)
  const session = await reopened(world)
  expect(session.events).toHaveLength(39)
  expect(session.findings).toEqual([
    { kind: 'bad-json', line: 20, detail: 'the line has no crc at its end' },
    { kind: 'gap', line: 21, detail: 'event 19 is missing' },
  ])
  expect(session.writable).toBe(false)
  expect(() => user(session, 'no')).toThrow('damaged at line 20')
  await session.close()
  expect(world.disk.text(LOG)).toBe(before)
  expect(filesOf(world)).toEqual(['s/events.jsonl', 's/index'])
})

test('a flipped bit, a lost line and a line that stands twice are told apart', async () => {
  const world = await machineWith(9)
  const lines = linesOf(world)
  lines[2] = (lines[2] ?? '').replace('message', 'massage')
  lines.splice(5, 1)
  lines.splice(7, 0, lines[7] ?? '')
  withLog(world, `${lines.join('\n')}\n`)
  const session = await reopened(world)
  expect(session.findings.map(({ kind, line }) => `${kind} ${line}`)).toEqual([
    'bad-crc 3',
    'gap 4',
    'gap 6',
    'duplicate-seq 9',
  ])
  expect(texts(session).map((text) => Number(text.slice(8)))).toEqual([1, 3, 4, 6, 7, 8, 9])
})

test('of very much damage the first thousand places are named', async () => {
  const world = await machineWith(2)
  const lines = linesOf(world)
  lines.splice(1, 0, ...Array<string>(700).fill('x'), ...Array<string>(700).fill(String(lines[0])))
  const session = await reopened(withLog(world, `${lines.join('\n')}\n`))
  expect(session.findings).toHaveLength(1_000)
  expect(texts(session)).toHaveLength(2)
})

test('a log whose first line is damaged shows the rest', async () => {
  const world = await machineWith(3)
  withLog(world, `garbage${world.disk.text(LOG)}`)
  const session = await reopened(world)
  expect(texts(session)).toHaveLength(3)
  expect(session.findings[0]).toMatchObject({ kind: 'bad-crc', line: 1 })
})

async function refusal(world: SimWorld): Promise<unknown> {
  const { sessions } = await mount(world)
  const errors = await Promise.all(
    (['write', 'read'] as const).map((mode) => sessions.open('s', mode).catch((error: unknown) => error)),
  )
  expect((errors[0] as Error).message).toBe((errors[1] as Error).message)
  return errors[0]
}

test('a log of a newer format is refused, also when its lines look different', async () => {
  const start = { seq: 0, at: 1, type: 'session/started', data: { format: 2, id: 's', cwd: '/' } }
  const world = await machineWith(1)
  for (const line of [encodeRecord(JSON.stringify(start)), `${JSON.stringify({ ...start, sum: 'x' })}\n`]) {
    expect(await refusal(withLog(world, line))).toMatchObject({ code: 'SESSION_NEWER_FORMAT', data: { format: 2 } })
  }
})

test('an empty file and a file of something else are no logs', async () => {
  const world = await machineWith(1)
  expect(await refusal(withLog(world, ''))).toMatchObject({
    code: 'SESSION_NOT_A_LOG',
    data: { detail: 'it is empty' },
  })
  expect(await refusal(withLog(world, 'hello\n'))).toMatchObject({ code: 'SESSION_NOT_A_LOG' })
  expect(await refusal(withLog(world, '{"a":1}\n'))).toMatchObject({ code: 'SESSION_NOT_A_LOG' })
})

test.each([
  ['a directory', null],
  ['a fifo', { kind: 'fifo' }],
  ['a socket', { kind: 'socket' }],
  ['a symlink', { link: '/proj/elsewhere' }],
] as const)('%s in place of a log is refused and never waited for', async (_, seed) => {
  const world = await machineWith(1)
  await world.disk.unlink(LOG)
  world.disk.plant({ [LOG]: seed })
  expect(await refusal(world)).toMatchObject({ code: 'SESSION_NOT_A_LOG' })
  const [summary] = await jsonlStore(world, DIR).list()
  expect(summary).toMatchObject({ id: 's', startedAt: 0 })
  expect(summary?.problem).toBeTruthy()
})

test('a log without permission is refused with the place', async () => {
  const world = await machineWith(1)
  world.disk.plant({ [LOG]: { content: 'x', mode: 0o000 } })
  expect(await refusal(world)).toMatchObject({ code: 'STORE_UNREADABLE', data: { path: LOG, code: 'EACCES' } })
  world.disk.plant({ '/locked': { directory: true, mode: 0 } })
  await expect(jsonlStore(world, '/locked').list()).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
  await expect(jsonlStore(world, '/locked').create('s')).rejects.toMatchObject({ code: 'STORE_UNREADABLE' })
})

test('a list names the sessions it cannot read, and leaves out folders that never got a log', async () => {
  const world = await machineWith(1)
  world.disk.plant({
    [`${DIR}/empty`]: null,
    [`${DIR}/broken/events.jsonl`]: 'x\n',
    [`${DIR}/secret/events.jsonl`]: { content: 'x', mode: 0 },
    [`${DIR}/stray.txt`]: 'not a session',
  })
  const list = await jsonlStore(world, DIR).list()
  expect(list.map(({ id, problem }) => [id, problem === undefined])).toEqual([
    ['s', true],
    ['secret', false],
    ['broken', false],
  ])
})

test('a file or a fifo in the place of the folder of a session is no session', async () => {
  const world = await machineWith(1)
  world.disk.plant({ [`${DIR}/stray`]: 'not a session', [`${DIR}/pipe`]: { kind: 'fifo' } })
  const store = jsonlStore(world, DIR)
  for (const id of ['stray', 'pipe']) {
    const ways = [store.open(id, 'read'), store.open(id, 'write'), store.holder(id), store.repair(id), store.remove(id)]
    for (const way of ways) await expect(way).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  }
})

// BUG-014: the work of opening is bounded by the size of the log, and no buffer is larger than a chunk or a line.
test('a log of many events and one very long line opens whole, and each byte of it is read once', async () => {
  const machine = await machineWith(0)
  const text = (i: number) => (i === 7_000 ? 'x'.repeat(2_000_000) : `a\u2028b\u2029c\u0085d ${i}`)
  const line = (i: number) => {
    const data = { content: [{ type: 'text', text: text(i) }], source: 'user' }
    return encodeRecord(JSON.stringify({ seq: i, at: 1, type: 'user/message', data }))
  }
  const lines = Array.from({ length: 19_999 }, (_, index) => line(index + 1))
  withLog(machine, (machine.disk.text(LOG) ?? '') + lines.join(''))
  const size = Buffer.byteLength(machine.disk.text(LOG) ?? '')
  const { world, reads } = counted(machine)
  const again = await (await mount(world)).sessions.open('s', 'read')
  expect(again.findings).toEqual([])
  expect(texts(again)).toEqual(Array.from({ length: 19_999 }, (_, index) => text(index + 1)))
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBe(size)
  expect(reads.length).toBeLessThanOrEqual(Math.ceil(size / (1 << 20)) + 1)
  expect(Math.max(...reads)).toBeLessThanOrEqual(1 << 20)
})

test('a line longer than any record is none, whatever it holds, and the log goes on after it', async () => {
  const line = (seq: number, type: string) => Buffer.from(encodeRecord(JSON.stringify({ seq, at: 1, type, data: {} })))
  const [first, last] = [line(0, 'a'), line(1, 'b')]
  const size = first.length + LINE_BYTES_MAX + last.length + 2
  const lastAt = size - last.length
  const file = {
    stat: async () => ({ size }),
    async read(into: Uint8Array, position: number) {
      const length = Math.min(into.length, size - position)
      into.fill(0x78, 0, length)
      if (position === 0) into.set(first)
      if (position + length > lastAt - 1) into[lastAt - 1 - position] = 0x0a
      const from = Math.max(0, position - lastAt)
      if (position + length > lastAt)
        into.set(last.subarray(from, position + length - lastAt), Math.max(0, lastAt - position))
      return length
    },
  } as unknown as DiskFile
  const types: string[] = []
  const { findings, end } = await scanLog(file, { event: ({ type }) => types.push(type) })
  expect([types, end]).toEqual([['a', 'b'], size])
  expect(findings).toEqual([{ kind: 'bad-json', line: 2, detail: 'the line is longer than any record' }])
})

test('of very many bad lines the first are named, and how many there were more', async () => {
  const world = await machineWith(3)
  const lines = linesOf(world)
  withLog(world, [lines[0], ...Array<string>(1500).fill('garbage'), ...lines.slice(1), ''].join('\n'))
  const findings = await (await mount(world)).sessions.scan('s', () => {})
  expect(findings).toHaveLength(1000)
  expect(findings.at(-1)?.detail).toMatch(/; 500 more like these are not named$/)
})
