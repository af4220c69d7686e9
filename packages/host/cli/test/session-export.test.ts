import { describe, expect, test } from 'vitest'
import { bitFlip, converse, machine, record, sluice, spoil, writer } from './recorded.ts'

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

  test('a call that was interrupted is shown with what it was to do', async () => {
    const world = machine()
    const ctx = await writer(world)
    const session = await ctx.sessions.create({ cwd: '/proj/work', id: 's' })
    const card = { v: 1, kind: 'terminal', title: 'bash', command: 'make' } as const
    const call = { callId: 'c', tool: 'bash', argumentsText: '{}', readOnly: false, card, batch: 0, index: 0 }
    session.append('tool/call', call)
    await session.close()
    await (await ctx.sessions.open('s')).close()
    for (const command of ['show', 'export']) {
      expect((await sluice(world, ['session', command, 's'])).out).toContain('✘ bash $ make  (interrupted)\n')
    }
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
