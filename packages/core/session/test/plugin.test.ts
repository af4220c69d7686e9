import { Type } from 'typebox'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import * as sessionPlugin from '../src/index.ts'
import { memoryStorePlugin, type Session, sessionEvents } from '../src/index.ts'
import { turn } from '@sluice/testkit'
import { mount, smallWorld } from './mount.ts'
import { user } from './say.ts'

const notes = {
  'notes/added': { version: 1, meaning: 'A note was added.', schema: Type.Object({ note: Type.String() }) },
}

test('unloading the session plugin closes its sessions and leaves nothing behind', async () => {
  const { ctx, store, unload } = await mount()
  const before = ctx.fiber.getEffects().length
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await unload()
  expect(session.writable).toBe(false)
  expect(ctx.get('sessions')).toBeUndefined()
  expect(ctx.fiber.getEffects()).toHaveLength(before - 1)
  const reopened = await store.open(session.id, 'write')
  expect(reopened.events).toHaveLength(1)
})

test('a plugin that uses sessions writes its last event before they close', async () => {
  const { ctx, store, unload } = await mount()
  let session: Session | undefined
  await ctx.plugin({
    name: 'user-of-sessions',
    inject: ['sessions'],
    async apply(inner: Context) {
      const own = await inner.sessions.create({ cwd: '/proj' })
      session = own
      return async () => {
        await turn()
        user(own, 'goodbye')
      }
    },
  })
  await unload()
  const { events } = await store.open((session as Session).id, 'read')
  expect(events.at(-1)?.type).toBe('user/message')
})

test('types of a plugin are optional in the log and gone when the plugin is gone', async () => {
  const { ctx } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const fiber = await ctx.plugin({
    name: 'notes',
    inject: ['sessions'],
    apply: (inner: Context) => void inner.sessions.define(notes),
  })
  expect(session.append('notes/added', { note: 'milk' }).optional).toBe(true)
  expect(() => session.append('notes/added', { note: 1 })).toThrow('$.note')
  expect(ctx.sessions.types().find(({ type }) => type === 'notes/added')?.owner).toBe('notes')
  await fiber.dispose()
  expect(() => session.append('notes/added', { note: 'eggs' })).toThrow('no plugin has registered')
  expect(ctx.sessions.types().map(({ type }) => type)).toEqual(Object.keys(sessionEvents).sort())
})

test('a type that another plugin owns is refused, and nothing of the table is registered', async () => {
  const { ctx } = await mount()
  const taken = { 'other/thing': notes['notes/added'], 'user/message': notes['notes/added'] }
  expect(() => ctx.sessions.define(taken)).toThrow(expect.objectContaining({ code: 'SESSION_TYPE_TAKEN' }))
  expect(ctx.sessions.types().some(({ type }) => type === 'other/thing')).toBe(false)
})

test('a log with optional events of an absent plugin opens, writes and keeps them', async () => {
  const { ctx } = await mount()
  const undefine = ctx.sessions.define(notes)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  session.append('notes/added', { note: 'milk' })
  await session.close()
  await undefine()
  const again = await ctx.sessions.open(session.id)
  expect(again.writable).toBe(true)
  expect(again.events[1]).toMatchObject({ type: 'notes/added', data: { note: 'milk' }, optional: true })
})

test('a log with unknown events that may not be skipped opens read-only and says why', async () => {
  const { ctx, store } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await session.close()
  const { log } = await store.open(session.id, 'write')
  log.write({ seq: 1, at: 1, type: 'future/thing', data: {} })
  await log.close()
  const again = await ctx.sessions.open(session.id)
  expect(again.writable).toBe(false)
  expect(again.findings).toMatchObject([{ kind: 'unknown-type', line: 2 }])
  expect(() => user(again, 'no')).toThrow('future/thing')
})

test('the memory store is a plugin of its own', async () => {
  const ctx = new Context()
  ctx.provide('world', smallWorld())
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await session.durable()
  expect(session.events).toHaveLength(1)
})

test('a registered fold is gone when its plugin is gone, and its name is free again', async () => {
  const { ctx } = await mount()
  const fold = { name: 'notes/count', version: 1, initial: 0, step: (state: unknown) => state }
  const fiber = await ctx.plugin({
    name: 'notes',
    inject: ['sessions'],
    apply: (inner: Context) => void inner.sessions.registerFold(fold),
  })
  expect(() => ctx.sessions.registerFold(fold)).toThrow('registered already')
  await fiber.dispose()
  ctx.sessions.registerFold(fold)
})
