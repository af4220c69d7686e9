import type { BlobRef } from '@sluice/session'
import { describe, expect, test } from 'vitest'
import { bitFlip, logOf, machine, record, SESSIONS, sluice, spoil, writer } from './recorded.ts'

describe('the session that is meant', () => {
  test('the beginning of an id is enough where no other session begins with it', async () => {
    const world = machine()
    await record(world, '20260101-aa')
    await record(world, '20260102-bb')
    expect(await sluice(world, ['session', 'verify', '20260102'])).toMatchObject({
      code: 0,
      out: 'session 20260102-bb is whole: 9 events\n',
    })
    expect(await sluice(world, ['session', 'verify', '202601'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('2 sessions begin with "202601": 20260102-bb, 20260101-aa (CLI_SESSION_AMBIGUOUS)'),
    })
  })

  test('last is the newest session of the working folder, for every command', async () => {
    const world = machine()
    await record(world, 'a', 1, '/proj')
    await record(world, 'b', 2, '/proj')
    await record(world, 'c', 1, '/proj/other')
    expect((await sluice(world, ['session', 'verify', 'last'])).out).toBe('session b is whole: 9 events\n')
    expect((await sluice(world, ['session', 'show', 'last'])).out).toContain('question 2')
    expect((await sluice(world, ['undo', 'last'])).err).toContain('no call of session b changed a file')
    const { code, err } = await sluice(world, ['session', 'show', 'last'], { cwd: '/proj/none' })
    expect([code, err]).toEqual([1, expect.stringContaining('there is no session for /proj/none (CLI_NO_SESSION)')])
  })

  test('an id that is another with more behind it means itself', async () => {
    const world = machine()
    await record(world, 'a')
    await record(world, 'ab')
    expect((await sluice(world, ['session', 'verify', 'a'])).out).toContain('session a is whole')
  })

  test('an id that nobody has is answered with the nearest ones', async () => {
    const world = machine()
    for (const id of ['20260101-abcd', '20260202-efgh', '20260303-ijkl', '20260404-mnop']) await record(world, id, 1)
    const nearest = async (given: string) =>
      /nearest: (\S+),/.exec((await sluice(world, ['session', 'show', given])).err)?.[1]
    expect(await nearest('20260101-abdc')).toBe('20260101-abcd')
    expect(await nearest('2026-0202')).toBe('20260202-efgh')
    expect(await nearest('ijkm')).toBe('20260303-ijkl')
    for (const given of ['', '../x', '__proto__']) {
      const { code, err } = await sluice(world, ['session', 'verify', given])
      expect([code, /CLI_(SESSION_UNKNOWN|NOT_A_SESSION)/.test(err)], given).toEqual([1, true])
    }
  })
})

describe('sluice session list', () => {
  // 4.2
  test('list, show and export agree on the last event, and list marks what is damaged', async () => {
    const world = machine()
    await record(world, 'a')
    await record(world, 'b')
    spoil(world, 'b', (log) => `${bitFlip(log)}{"seq":9,"torn`)
    spoil(world, 'a', (log) => `${log}{"seq":9,"torn`)
    const list = await sluice(world, ['session', 'list'])
    expect(list.out.split('\n').slice(0, -1)).toEqual([
      'b  2026-01-01 00:00  last event 8 at 2026-01-01 00:00  /proj/work  ! damaged at line 3: bad-crc: the crc ' +
        `${/"crc":"(\w+)"/.exec(world.disk.text(logOf('b'))?.split('\n')[2] ?? '')?.[1]} does not fit`,
      'a  2026-01-01 00:00  last event 8 at 2026-01-01 00:00  /proj/work',
    ])
    for (const id of ['a', 'b']) {
      expect((await sluice(world, ['session', 'show', id])).out).toMatch(/\nlast event 8 at 2026-01-01 00:00\n$/)
      const { out } = await sluice(world, ['session', 'export', id, '--format', 'json'])
      expect((JSON.parse(out) as { events: { seq: number }[] }).events.at(-1)?.seq).toBe(8)
    }
  })

  test('a list without any session says where there is none', async () => {
    const list = await sluice(machine(), ['session', 'list'])
    expect(list).toEqual({ code: 0, out: '', err: `there are no sessions in ${SESSIONS}\n` })
  })
})

describe('sluice session verify', () => {
  test('verify names each finding with its line and kind, and exits with 1', async () => {
    const world = machine()
    await record(world, 's')
    spoil(world, 's', (log) => {
      const lines = bitFlip(log).split('\n')
      lines.splice(5, 1)
      return `${lines.join('\n')}{"seq":9,"torn`
    })
    const { code, out } = await sluice(world, ['session', 'verify', 's'])
    expect(code).toBe(1)
    expect(out.split('\n').map((line) => line.replace(/: [^:]*$/, ''))).toEqual([
      'line 3: bad-crc',
      'line 4: gap',
      'line 6: gap',
      'line 9: torn-tail',
      '',
    ])
  })

  // 3.5
  test('verify names blobs that are missing or damaged', async () => {
    const world = machine()
    const session = await (await writer(world)).sessions.create({ cwd: '/proj/work', id: 's' })
    const blobs = [Buffer.from('a'), Buffer.from('b')]
    for (const bytes of blobs) await session.putBlob(bytes, { mediaType: 'text/plain' })
    await session.close()
    const [gone, other] = session.events.slice(1).map(({ data }) => (data as unknown as { blob: BlobRef }).blob.digest)
    await world.disk.unlink(`${SESSIONS}/s/blobs/${gone}`)
    world.disk.plant({ [`${SESSIONS}/s/blobs/${other}`]: { content: 'x', mode: 0o600 } })
    expect(await sluice(world, ['session', 'verify', 's'])).toEqual({
      code: 1,
      out: `line 2: missing-blob: the blob ${gone} is not there\nline 3: bad-blob: the blob ${other} holds other bytes\n`,
      err: '',
    })
  })

  // 4.2
  test('every command names the same lines of a damaged log', async () => {
    const world = machine()
    await record(world, 's')
    const { log } = await (await writer(world)).sessionStore.open('s', 'write')
    log.write({ seq: 9, at: 1, type: 'turn/started', data: {} })
    await log.close()
    spoil(world, 's', (text) => text.split('\n').toSpliced(4, 1).join('\n'))
    const { out } = await sluice(world, ['session', 'verify', 's'])
    expect(out).toContain('line 9: bad-event: ')
    for (const command of ['show', 'export'])
      expect((await sluice(world, ['session', command, 's'])).err, command).toBe(out)
  })

  test('verify names events that do not fit their type, and those that a reader may not skip', async () => {
    const world = machine()
    await record(world, 's', 1)
    const { log } = await (await writer(world)).sessionStore.open('s', 'write')
    log.write({ seq: 5, at: 1, type: 'turn/started', data: {} })
    log.write({ seq: 6, at: 1, type: 'future/thing', data: {} })
    await log.durable(6)
    await log.close()
    const { code, out } = await sluice(world, ['session', 'verify', 's'])
    expect(code).toBe(1)
    expect(out).toMatch(/^line 6: bad-event: .*\nline 7: unknown-type: .*\n$/)
  })
})
