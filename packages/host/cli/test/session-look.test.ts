import type { BlobRef } from '@sluice/session'
import { describe, expect, test } from 'vitest'
import { bitFlip, converse, logOf, machine, record, SESSIONS, sluice, spoil, writer } from './recorded.ts'

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

describe('sluice session export', () => {
  async function told() {
    const world = machine()
    const ctx = await writer(world)
    const session = await ctx.sessions.create({ cwd: '/proj/work', id: 's' })
    converse(session, 1)
    session.append('turn/started', { turn: 2 })
    session.append('assistant/message', {
      content: [{ type: 'tool-call', id: 'c1', name: 'bash', argumentsText: '{}' }],
      finish: 'tool-calls',
      model: 'sim/one',
    })
    session.append('tool/result', {
      callId: 'c1',
      tool: 'bash',
      outcome: { tag: 'denied', executed: 'no', stage: 'guards', by: 'house-rules#23 (guard x)', reason: 'no' },
      content: [{ type: 'text', text: 'see:\n```\n\u001b[2J\u009b31m\n```' }],
      card: { v: 1, kind: 'terminal', title: 'bash', command: 'ls' },
    })
    session.append('compaction/done', { upTo: 4, summary: 'All was well.' })
    session.append('turn/ended', { turn: 2, reason: 'error', detail: 'gone' })
    await session.close()
    return world
  }

  test('Markdown has what was said, each call with its result, and how turns ended', async () => {
    const { code, out } = await sluice(await told(), ['session', 'export', 's'])
    expect(code).toBe(0)
    expect(out).toBe(
      [
        '# Session s',
        '',
        '- Folder: `/proj/work`',
        '- From 2026-01-01 00:00 to 2026-01-01 00:00 UTC, last event 9',
        '',
        '## User',
        '',
        'question 1',
        '',
        '## Assistant',
        '',
        'answer 1',
        '',
        '### ⊘ bash $ ls  (denied by house-rules (guard x))',
        '',
        '````',
        'see:',
        '```',
        '\\u{1b}[2J\\u{9b}31m',
        '```',
        '````',
        '',
        '## Summary in place of what came before',
        '',
        'All was well.',
        '',
        '*Turn ended: error: gone*',
        '',
      ].join('\n'),
    )
  })

  test('a call without a result is shown and exported all the same, with what happened inside it', async () => {
    const world = machine()
    await record(world, 's', 1)
    const { log } = await (await writer(world)).sessionStore.open('s', 'write')
    const card = (title: string) => ({ v: 1, kind: 'generic', title }) as const
    const call = { callId: 'c', tool: 'program', argumentsText: '{}', readOnly: false, card: card('program'), batch: 0 }
    const outcome = { tag: 'succeeded', executed: 'yes' } as const
    const result = {
      callId: 'c.1',
      tool: 'look',
      outcome,
      content: [{ type: 'text', text: 'seen' }],
      card: card('look'),
    }
    log.write({ seq: 5, at: 1, type: 'tool/call', data: { ...call, index: 0 } })
    log.write({
      seq: 6,
      at: 1,
      type: 'tool/code-dispatch',
      data: { callId: 'c.1', parent: 'c', phase: 'settle', result },
    } as never)
    await log.close()
    const { out } = await sluice(world, ['session', 'export', 's'])
    expect(out).toContain('\nanswer 1\n\n### ▸ program\n\n#### ✔ look\n\n```\nseen\n```\n')
    expect((await sluice(world, ['session', 'show', 's'])).out).toContain('\n▸ program\n  ✔ look\n')
  })

  test('events that repair could not save are told of', async () => {
    const world = machine()
    await record(world, 's')
    spoil(world, 's', bitFlip)
    await sluice(world, ['session', 'repair', 's'])
    for (const command of ['show', 'export']) {
      const { out } = await sluice(world, ['session', command, 's'])
      expect(out, command).toContain('the log did not hold this event any more')
    }
  })

  test('JSON has every event as the log has it, and no control character', async () => {
    const world = await told()
    const { out } = await sluice(world, ['session', 'export', 's', '--format', 'json'])
    // oxlint-disable-next-line no-control-regex
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    const { events, ...head } = JSON.parse(out) as { events: object[] }
    expect(head).toEqual({ id: 's', cwd: '/proj/work', findings: [] })
    const { events: recorded } = await (await writer(world)).sessions.open('s', 'read')
    expect(events).toEqual(recorded)
  })

  test('an export to a file never replaces one, and leaves none that is not whole', async () => {
    const world = await told()
    const save = (name: string) => sluice(world, ['session', 'export', 's', '--format', 'json', '--output', name])
    expect(await save('out.json')).toEqual({ code: 0, out: '', err: '' })
    expect(world.disk.text('/proj/out.json')).toBe(
      (await sluice(world, ['session', 'export', 's', '--format', 'json'])).out,
    )
    const before = world.disk.tree()
    expect(await save('out.json')).toMatchObject({
      code: 1,
      err: expect.stringContaining('/proj/out.json (CLI_FILE_EXISTS)'),
    })
    expect((await save('nowhere/out.json')).err).toContain('/proj/nowhere/out.json cannot be written (ENOENT)')
    world.disk.failNext('write', 'ENOSPC', { path: '/proj/full.json', partialBytes: 10 })
    expect((await save('full.json')).err).toContain('cannot be written (ENOSPC) (CLI_FILE_UNWRITABLE)')
    expect(world.disk.tree()).toEqual(before)
  })

  test('a damaged session is exported as far as it goes, with what is wrong', async () => {
    const world = await told()
    spoil(world, 's', bitFlip)
    const { code, out, err } = await sluice(world, ['session', 'export', 's'])
    expect([code, out.includes('answer 1'), out.includes('question 1')]).toEqual([1, true, false])
    expect(out).toContain('\n- Damaged at line 3: bad-crc: ')
    expect(err).toMatch(/^line 3: bad-crc: /)
  })

  test('a format that there is not is a usage error', async () => {
    const { code, err } = await sluice(machine(), ['session', 'export', 's', '--format', 'pdf'])
    expect([code, err.includes('markdown, json')]).toEqual([2, true])
  })
})
