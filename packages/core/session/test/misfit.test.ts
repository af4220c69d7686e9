import { expect, test } from 'vitest'
import type { SessionEvent } from '../src/index.ts'
import { mount } from './mount.ts'
import { user } from './say.ts'

/** A session whose store got an event that no append would have let through. */
async function foreign(event: Omit<SessionEvent, 'seq' | 'at'>) {
  const { ctx, store } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj', id: 's' })
  user(session, 'before')
  await session.close()
  const { log } = await store.open('s', 'write')
  log.write({ seq: 2, at: 1, ...event })
  await log.close()
  const scanned = await ctx.sessions.scan('s', () => {})
  return Object.assign(await ctx.sessions.open('s'), { scanned })
}

test('an event that does not fit its type is named and left out, and nothing can be appended', async () => {
  const session = await foreign({ type: 'assistant/message', data: [] })
  expect(session.findings).toMatchObject([{ kind: 'bad-event', line: 3 }])
  expect(session.scanned).toEqual(session.findings)
  expect(session.events).toHaveLength(2)
  expect(session.messages()).toHaveLength(1)
  expect(() => user(session, 'no')).toThrow('assistant/message does not fit its schema')
})

test('fields that a later version has added to an event are no misfit', async () => {
  const session = await foreign({ type: 'turn/started', data: { turn: 1, colour: 'blue' } })
  expect(session.findings).toEqual([])
  expect(session.writable).toBe(true)
})

test('a session with an event that does not fit its type is not forked', async () => {
  const { ctx, store } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj', id: 's' })
  await session.close()
  const { log } = await store.open('s', 'write')
  log.write({ seq: 1, at: 1, type: 'assistant/message', data: [] })
  log.write({ seq: 2, at: 1, type: 'turn/ended', data: { turn: 1, reason: 'completed' } })
  await log.close()
  await expect(ctx.sessions.fork('s')).rejects.toMatchObject({ code: 'SESSION_FORK_REFUSED' })
})
