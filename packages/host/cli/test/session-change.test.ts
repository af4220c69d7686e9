import { describe, expect, test } from 'vitest'
import { spanMs } from '../src/moments.ts'
import { bitFlip, logOf, machine, processOn, record, SESSIONS, sluice, spoil, writer } from './recorded.ts'

const DAY = 86_400_000

/** The lock of a living process on this host. */
async function held(id: string) {
  const world = machine()
  await record(world, id)
  const session = await (await writer(processOn(world, 77))).sessions.open(id)
  await session.durable()
  return { world, session }
}

/** Somebody goes on with a session, and leaves it again. */
async function resumed(world: ReturnType<typeof machine>, id: string) {
  await (await (await writer(processOn(world, 78))).sessions.open(id)).close()
}

describe('sluice session repair', () => {
  test('repair says what was wrong, what is lost, and where the old log is; then verify finds nothing', async () => {
    const world = machine()
    await record(world, 's')
    spoil(world, 's', (log) => `${bitFlip(log)}{"seq":9,"torn`)
    const before = world.disk.text(logOf('s'))
    const { code, out, err } = await sluice(world, ['session', 'repair', 's'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(
      /^line 3: bad-crc: .*\nline 4: gap: .*\nline 10: torn-tail: .*\nrepaired session s: 1 event lost, session\/lost in the place of each\nthe log as it was: (\S+)\n$/,
    )
    expect(world.disk.text(/was: (\S+)/.exec(out)?.[1] ?? '')).toBe(before)
    expect((await sluice(world, ['session', 'verify', 's'])).code).toBe(0)
    expect((await sluice(world, ['session', 'repair', 's'])).out).toBe('session s needs no repair\n')
  })

  test('repair says what it cannot mend', async () => {
    const world = machine()
    await record(world, 's', 1)
    const { log } = await (await writer(world)).sessionStore.open('s', 'write')
    log.write({ seq: 5, at: 1, type: 'future/thing', data: {} })
    await log.durable(5)
    await log.close()
    const { code, out, err } = await sluice(world, ['session', 'repair', 's'])
    expect([code, out, err]).toEqual([
      1,
      'session s: nothing could be mended\n',
      expect.stringMatching(/^still line 6: unknown-type: /),
    ])
  })
})

describe('sluice session fork', () => {
  test('fork prints the id of the child and says after which event it begins', async () => {
    const world = machine()
    await record(world, 's')
    const parent = world.disk.text(logOf('s'))
    const forked = await sluice(world, ['session', 'fork', 's'])
    expect(forked).toMatchObject({ code: 0, err: 'forked session s after event 8\n' })
    const child = forked.out.trim()
    expect((await sluice(world, ['session', 'show', child])).out).toContain('answer 2')
    expect(world.disk.text(logOf('s'))).toBe(parent)
  })

  test('a point that is no end of a turn is moved back to one, which is said, or refused', async () => {
    const world = machine()
    await record(world, 's')
    const moved = await sluice(world, ['session', 'fork', 's', '--at', '6'])
    expect(moved).toMatchObject({
      code: 0,
      err: 'forked session s after event 4, the last end of a turn before event 6\n',
    })
    expect((await sluice(world, ['session', 'show', moved.out.trim()])).out).not.toContain('question 2')
    expect((await sluice(world, ['session', 'fork', 's', '--at', '4'])).err).toBe('forked session s after event 4\n')
    expect(await sluice(world, ['session', 'fork', 's', '--at', '3'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('SESSION_FORK_REFUSED'),
    })
    for (const at of ['x', '-1', '1.5', '']) {
      expect((await sluice(world, ['session', 'fork', 's', '--at', at])).code, at).toBe(2)
    }
  })
})

describe('sluice session delete', () => {
  test('delete asks, says of what, and does nothing without a clear yes', async () => {
    const world = machine()
    await record(world, 's')
    for (const line of ['n', '', 'yes please']) {
      const asked = await sluice(world, ['session', 'delete', 's'], { interactive: true, lines: [line] })
      expect(asked).toMatchObject({ code: 1, err: 'nothing was done\n' })
      expect(asked.out).toContain('Delete session s (2026-01-01 00:00  last event 8')
    }
    const alone = await sluice(world, ['session', 'delete', 's'])
    expect([alone.code, alone.err.includes('CLI_NOT_CONFIRMED')]).toEqual([2, true])
    expect(world.disk.text(logOf('s'))).toBeDefined()
    expect((await sluice(world, ['session', 'delete', 's'], { interactive: true, lines: ['y'] })).code).toBe(0)
    expect(world.disk.tree(SESSIONS)).toEqual({})
  })

  test('a session that goes on while the question waits is not deleted', async () => {
    const world = machine()
    await record(world, 's')
    const agreed = { interactive: true, lines: ['y'], meanwhile: () => resumed(world, 's') }
    const asked = await sluice(world, ['session', 'delete', 's'], agreed)
    expect([asked.code, asked.err.includes('SESSION_CHANGED')]).toEqual([1, true])
    const pruned = await sluice(world, ['session', 'prune', '--older-than', '1m'], agreed)
    expect(pruned.out).toBe('nothing to delete\n')
    await world.clock.advance(DAY)
    const late = await sluice(world, ['session', 'prune', '--older-than', '1m'], agreed)
    expect([late.code, late.out.endsWith('deleted 0 sessions, failed 1\n')]).toEqual([1, true])
    expect(world.disk.text(logOf('s'))).toBeDefined()
  })

  // 5.1
  test('a fork keeps the blobs that it shares with a deleted session', async () => {
    const world = machine()
    const ctx = await writer(world)
    const session = await ctx.sessions.create({ cwd: '/proj', id: 's' })
    const blob = await session.putBlob(Buffer.from('picture'), { mediaType: 'image/png' })
    session.append('turn/started', { turn: 1 })
    session.append('turn/ended', { turn: 1, reason: 'completed' })
    await session.close()
    const child = (await sluice(world, ['session', 'fork', 's'])).out.trim()
    expect((await sluice(world, ['session', 'delete', 's', '--yes'])).out).toBe('deleted session s\n')
    const opened = await ctx.sessions.open(child, 'read')
    expect(Buffer.from((await opened.getBlob(blob)) ?? []).toString()).toBe('picture')
    expect((await sluice(world, ['session', 'verify', child])).code).toBe(0)
  })
})

describe('a session that is being written', () => {
  // BUG-013
  test('is changed by no command, which names who writes it; it can be shown, verified, exported and forked', async () => {
    const { world, session } = await held('s')
    const before = world.disk.tree()
    for (const argv of [
      ['session', 'repair', 's'],
      ['session', 'delete', 's', '--yes'],
      ['session', 'unlock', 's', '--yes'],
    ]) {
      const { code, err } = await sluice(world, argv)
      expect(code, argv.join(' ')).toBe(1)
      expect(err).toContain('session s is being written by process 77 on sim (SESSION_LOCKED)')
    }
    expect(world.disk.tree()).toEqual(before)
    for (const command of ['show', 'verify', 'export', 'fork']) {
      expect((await sluice(world, ['session', command, 's'])).code, command).toBe(0)
    }
    await session.close()
    expect((await sluice(world, ['session', 'delete', 's', '--yes'])).code).toBe(0)
  })
})

describe('sluice session unlock', () => {
  async function lost() {
    const world = machine()
    await record(world, 's')
    await (await writer(processOn(world, 9, 'elsewhere'))).sessions.open('s')
    return world
  }

  test('a lock of another host is named, and goes when a person says so', async () => {
    const world = await lost()
    const refused = await sluice(world, ['session', 'repair', 's'])
    expect(refused.err).toContain('process 9 on elsewhere (SESSION_LOCKED)')
    expect(refused.err).toContain('sluice session unlock')
    const asked = await sluice(world, ['session', 'unlock', 's'], { interactive: true, lines: ['no'] })
    expect([asked.code, asked.out.includes('Process 9 on elsewhere holds session s')]).toEqual([1, true])
    expect((await sluice(world, ['session', 'unlock', 's'])).code).toBe(2)
    expect((await sluice(world, ['session', 'repair', 's'])).code).toBe(1)
    expect(await sluice(world, ['session', 'unlock', 's', '--yes'])).toMatchObject({
      code: 0,
      out: 'took session s away from process 9 on elsewhere\n',
    })
    expect((await sluice(world, ['session', 'repair', 's'])).code).toBe(0)
    expect((await sluice(world, ['session', 'unlock', 's'])).out).toBe('nobody writes session s\n')
  })
})

describe('sluice session prune', () => {
  /** Sessions whose last event is 40 days, 40 days, 20 days and no time ago; one that cannot be read. */
  async function aged() {
    const world = machine()
    await record(world, 'old')
    await record(world, 'used')
    await world.clock.advance(20 * DAY)
    await record(world, 'recent')
    await world.clock.advance(20 * DAY)
    const session = await (await writer(processOn(world, 77))).sessions.open('used')
    await session.durable()
    await record(world, 'new')
    world.disk.plant({ [`${SESSIONS}/strange/events.jsonl`]: 'no log\n' })
    return world
  }
  const ids = async (world: ReturnType<typeof machine>) =>
    (await (await writer(world)).sessions.list()).map(({ id }) => id).sort()

  test('prune removes what is older, keeps what it cannot judge, and says so', async () => {
    const world = await aged()
    const dry = await sluice(world, ['session', 'prune', '--older-than', '30d', '--dry-run'])
    expect(dry.code).toBe(0)
    expect(dry.out).toMatch(/^old {2}.*\nwould delete 1 session, kept 1 that is in use or cannot be read\n$/)
    expect(dry.err).toMatch(/^kept strange: /)
    expect((await sluice(world, ['session', 'prune', '--older-than', '30d'])).code).toBe(2)
    expect(await ids(world)).toEqual(['new', 'old', 'recent', 'strange', 'used'])
    const done = await sluice(world, ['session', 'prune', '--older-than', '30d', '--yes'])
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('deleted 1 session, kept 1') })
    expect(await ids(world)).toEqual(['new', 'recent', 'strange', 'used'])
    expect((await sluice(world, ['session', 'prune', '--older-than', '30d', '--yes'])).out).toBe(
      'nothing to delete, kept 1 that is in use or cannot be read\n',
    )
  })

  test('prune keeps a session that is being written however old it is, and says who writes it', async () => {
    const world = await aged()
    await world.clock.advance(40 * DAY)
    const { out, err } = await sluice(world, ['session', 'prune', '--older-than', '1d'], {
      interactive: true,
      lines: ['y'],
    })
    expect(err).toContain('kept used: session used is being written by process 77 on sim\n')
    expect(out).toContain('deleted 3 sessions, kept 2 that are in use or cannot be read\n')
    expect(await ids(world)).toEqual(['strange', 'used'])
  })

  test('one session that cannot be removed does not keep the others', async () => {
    const world = await aged()
    await world.clock.advance(40 * DAY)
    world.disk.failNext('rename', 'EIO')
    const { code, out, err } = await sluice(world, ['session', 'prune', '--older-than', '1d', '--yes'])
    expect([code, out.includes('deleted 2 sessions'), out.includes('failed 1')]).toEqual([1, true, true])
    expect(err).toContain('STORE_UNWRITABLE')
  })

  test('a span is a positive whole number with a unit, of at most a hundred years', async () => {
    expect(['90m', '12h', '30d', '2w'].map(spanMs)).toEqual([5_400_000, 43_200_000, 30 * DAY, 14 * DAY])
    for (const text of ['30', '0d', '-1d', '1.5d', '30 d', '30days', 'd', '', '99999999d', '1y', '１d']) {
      expect(spanMs(text), text).toBeUndefined()
    }
    const { code, err } = await sluice(machine(), ['session', 'prune', '--older-than', '30'])
    expect([code, err.includes('90m, 12h, 30d, 2w')]).toEqual([2, true])
    expect((await sluice(machine(), ['session', 'prune'])).code).toBe(2)
  })
})
