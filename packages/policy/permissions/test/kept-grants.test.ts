import { losslessCopy } from '@sluice/base'
import { grants } from '@sluice/permissions'
import type { SessionEvent } from '@sluice/session'
import { describe, expect, test } from 'vitest'
import { type GrantsBench, mount } from './grants-bench.ts'

const rule = 'probe(a.txt)'

async function granting(): Promise<GrantsBench> {
  const bench = await mount()
  bench.session.append('turn/started', { turn: 1 })
  bench.session.append('turn/ended', { turn: 1, reason: 'completed' })
  bench.session.append('turn/started', { turn: 2 })
  bench.person.says = 'always'
  await bench.tries('a.txt')
  bench.session.append('turn/ended', { turn: 2, reason: 'completed' })
  bench.person.says = 'no'
  return bench
}

/** A session whose host died when its log held `events`, opened again. */
async function resumedFrom(bench: GrantsBench, id: string, events: readonly SessionEvent[]) {
  const log = await bench.ctx.sessionStore.create(id)
  for (const event of events) log.write(event)
  await log.close()
  return bench.ctx.sessions.open(id)
}

// session-log 5.1, 5.2
describe('a grant', () => {
  test('lives on in a session that is resumed, and in a fork after it, but not in one before it', async () => {
    const bench = await granting()
    const { id } = bench.session
    await bench.session.close()
    const { sessions } = bench.ctx
    const resumed = await sessions.open(id)
    expect(await bench.tries('a.txt', resumed)).toBe('succeeded, asked 0')
    expect(await bench.tries('b.txt', resumed)).toBe('denied, asked 1')
    const [firstEnd] = resumed.events.filter(({ type }) => type === 'turn/ended')
    const after = await sessions.fork(id)
    expect(await bench.tries('a.txt', after)).toBe('succeeded, asked 0')
    const before = await sessions.fork(id, { seq: firstEnd?.seq as number })
    expect(bench.granted(before)).toEqual([])
    expect(await bench.tries('a.txt', before)).toBe('denied, asked 1')
  })

  test('that was revoked comes back in no fork, be it from before', async () => {
    const bench = await granting()
    const { id } = bench.session
    const ends = bench.session.events.filter(({ type }) => type === 'turn/ended')
    bench.session.append('permission/revoked', { rule, by: 'person' })
    await bench.session.close()
    const { sessions } = bench.ctx
    for (const options of [{}, { seq: ends[1]?.seq as number }]) {
      const child = await sessions.fork(id, options)
      expect(child.events[0]?.data).toMatchObject({ parent: { id, seq: ends[1]?.seq } })
      expect(bench.granted(child)).toEqual([])
      expect(await bench.tries('a.txt', child)).toBe('denied, asked 1')
      await child.close()
      const resumed = await sessions.open(child.id)
      expect([resumed.writable, bench.granted(resumed)]).toEqual([true, []])
      await resumed.close()
    }
  })

  // session-log 4.1
  test('ends where a damaged log has lost an event: it may have been the one that took it back', async () => {
    const bench = await granting()
    const events = bench.session.events.slice()
    const lost = { seq: events.length, at: 0, type: 'session/lost', data: { detail: 'gone' } }
    const resumed = await resumedFrom(bench, 'repaired', [...events, lost])
    expect(bench.granted(resumed)).toEqual([])
    expect(await bench.tries('a.txt', resumed)).toBe('denied, asked 1')
    bench.person.says = 'always'
    await bench.tries('a.txt', resumed)
    expect(bench.granted(resumed)).toEqual([rule])
  })

  test('counts in its session only', async () => {
    const bench = await granting()
    const other = await bench.ctx.sessions.create({ cwd: '/proj' })
    expect(await bench.tries('a.txt', other)).toBe('denied, asked 1')
  })

  test('that is revoked asks again, in a resumed session too, and can be granted anew', async () => {
    const bench = await granting()
    bench.session.append('permission/revoked', { rule, by: 'person' })
    expect(await bench.tries('a.txt')).toBe('denied, asked 1')
    await bench.session.close()
    const resumed = await bench.ctx.sessions.open(bench.session.id)
    expect(await bench.tries('a.txt', resumed)).toBe('denied, asked 1')
    bench.person.says = 'always'
    await bench.tries('a.txt', resumed)
    expect(bench.granted(resumed)).toEqual([rule])
  })

  // session-log 1.9
  test('is kept in a checkpoint as it is', async () => {
    const bench = await granting()
    const state = bench.session.fold(grants)
    expect(losslessCopy(state).value).toEqual(state)
    expect(() => bench.ctx.sessions.registerFold(grants)).toThrow('permissions/grants is registered already')
  })

  test('stands after a crash exactly when its event does: one that was only chosen is asked again', async () => {
    const bench = await granting()
    const events = bench.session.events.slice()
    const at = events.findIndex(({ type }) => type === 'permission/granted')
    const ran = events.findIndex(({ type }) => type === 'tool/started')
    expect([events[at - 1]?.type, ran > at]).toEqual(['approval/decided', true])
    for (let kept = 1; kept <= events.length; kept++) {
      const resumed = await resumedFrom(bench, `cut-${kept}`, events.slice(0, kept))
      const what = events[kept - 1]?.type
      expect(resumed.fold(grants), what).toMatchObject({ chosen: [], offered: [] })
      expect(await bench.tries('a.txt', resumed), what).toBe(kept > at ? 'succeeded, asked 0' : 'denied, asked 1')
      expect(await bench.tries('b.txt', resumed), what).toBe('denied, asked 1')
      // What was chosen before the crash is no way in afterwards.
      if (kept === at) {
        resumed.append('permission/granted', { rule, by: 'person' }, { cause: at - 1 })
        expect(await bench.tries('a.txt', resumed)).toBe('denied, asked 1')
      }
      await resumed.close()
    }
  })
})
