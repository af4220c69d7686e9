import { isSluiceError } from '@sluice/base'
import { expect, test } from 'vitest'
import type { Fold, SessionEvent } from '../src/index.ts'
import { freshSession, mount } from './mount.ts'
import { text, user } from './say.ts'

function code(run: () => unknown): string | undefined {
  try {
    run()
  } catch (error) {
    return isSluiceError(error) ? error.code : String(error)
  }
  return undefined
}

test('a session begins with session/started and numbers its events without gaps', async () => {
  const session = await freshSession()
  user(session, 'one')
  user(session, 'two')
  expect(session.events.map((event) => event.type)).toEqual(['session/started', 'user/message', 'user/message'])
  expect(session.events.map((event) => event.seq)).toEqual([0, 1, 2])
  expect(session.events[0]?.data).toEqual({ format: 1, id: session.id, cwd: '/proj' })
})

test('an event is a frozen copy: changing what was given changes nothing', async () => {
  const session = await freshSession()
  const part = { type: 'text', text: 'before' } as const
  const content = [{ ...part }]
  const event = session.append('user/message', { content, source: 'user' })
  content.push({ type: 'text', text: 'after' } as never)
  expect(event.data.content).toEqual([part])
  expect(Object.isFrozen(event)).toBe(true)
  expect(Object.isFrozen(event.data.content[0])).toBe(true)
})

test('data that does not fit its type is refused with the place, and leaves no event', async () => {
  const session = await freshSession()
  expect(code(() => session.append('user/message', { content: 'hi', source: 'user' }))).toBe('SESSION_EVENT_INVALID')
  expect(code(() => session.append('turn/started', { turn: 1, more: 1 }))).toBe('SESSION_EVENT_INVALID')
  expect(code(() => session.append('turn/started', { turn: Number.NaN }))).toBe('SESSION_EVENT_INVALID')
  expect(code(() => session.append('turn/stopped', {}))).toBe('SESSION_TYPE_UNKNOWN')
  expect(() => session.append('tool/started', { callId: 1, attempt: 1 })).toThrow('$.callId')
  expect(session.events).toHaveLength(1)
})

// BUG-077
test('names from objects themselves are no event types', async () => {
  const session = await freshSession()
  for (const type of ['constructor', '__proto__', 'toString']) {
    expect(code(() => session.append(type, {}))).toBe('SESSION_TYPE_UNKNOWN')
  }
})

// BUG-075
test('half a surrogate pair is replaced on entry, and whole ones stay', async () => {
  const session = await freshSession()
  const event = user(session, '현\ud99c \udc00x 😀 a\ud83d')
  expect(event.data.content).toEqual(text('현\ufffd \ufffdx 😀 a\ufffd'))
})

test('an event appended inside a listener is announced after the running one, in order', async () => {
  const session = await freshSession()
  const seen: string[] = []
  session.subscribe((event) => {
    seen.push(`a${event.seq}`)
    if (event.type === 'turn/started') user(session, 'from the listener')
  })
  session.subscribe((event) => seen.push(`b${event.seq}`))
  session.append('turn/started', { turn: 1 })
  user(session, 'later')
  expect(seen).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
})

test('listeners that answer events with events without end are stopped', async () => {
  const session = await freshSession()
  const problems: unknown[] = []
  session.subscribe(() => {
    try {
      user(session, 'again')
    } catch (error) {
      problems.push(error)
    }
  })
  user(session, 'start')
  expect(String(problems[0])).toContain('without end')
})

test('a subscriber that throws harms neither the append nor the others', async () => {
  const session = await freshSession()
  const seen: number[] = []
  session.subscribe(() => {
    throw new Error('broken subscriber')
  })
  const stop = session.subscribe((event) => void seen.push(event.seq))
  user(session, 'one')
  stop()
  user(session, 'two')
  expect(seen).toEqual([1])
})

test('a fold visits each event once, however often it is asked', async () => {
  const session = await freshSession()
  let steps = 0
  const turns: Fold<number> = {
    name: 'test/turns',
    version: 1,
    initial: 0,
    step(state: number, event: SessionEvent) {
      steps++
      return event.type === 'turn/started' ? state + 1 : state
    },
  }
  session.append('turn/started', { turn: 1 })
  expect([session.fold(turns), session.fold(turns)]).toEqual([1, 1])
  session.append('turn/started', { turn: 2 })
  expect(session.fold(turns)).toBe(2)
  expect(steps).toBe(3)
})

test('a blob is found by its digest and named by one event, however often it is stored', async () => {
  const session = await freshSession()
  const bytes = new TextEncoder().encode('picture')
  const ref = await session.putBlob(bytes, { mediaType: 'image/png', name: 'a.png' })
  expect(await session.putBlob(bytes, { mediaType: 'image/png' })).toEqual(ref)
  expect(ref.size).toBe(7)
  expect(await session.getBlob(ref)).toEqual(bytes)
  expect(await session.getBlob({ digest: '0'.repeat(64), size: 1 })).toBeUndefined()
  const stored = session.events.filter((event) => event.type === 'blob/stored')
  expect(stored.map((event) => event.data)).toEqual([{ blob: ref, mediaType: 'image/png', name: 'a.png' }])
})

test('a blob that comes in pieces is stored as they come and named once, whichever way it comes again', async () => {
  const session = await freshSession()
  const pieces = async function* () {
    yield Buffer.from('pic')
    yield await Promise.resolve(Buffer.from('ture'))
  }
  const info = { mediaType: 'image/png' }
  const ref = await session.putBlob(pieces(), info)
  expect(await session.putBlob(Buffer.from('picture'), info)).toEqual(ref)
  expect(await session.putBlob(pieces(), info)).toEqual(ref)
  expect(Buffer.from((await session.getBlob(ref)) ?? []).toString()).toBe('picture')
  expect(session.events.filter((event) => event.type === 'blob/stored')).toHaveLength(1)
  const last = session.putBlob(pieces(), info)
  await session.close()
  expect(await last).toEqual(ref)
})

test('what works for a session ends before it closes, and may write its last event', async () => {
  const session = await freshSession()
  const order: string[] = []
  session.onClosing(async () => {
    await Promise.resolve()
    user(session, 'last')
    order.push('ended')
  })
  session.onClosing(() => {
    throw new Error('broken')
  })
  session.onClosing(() => void order.push('released'))()
  await session.close()
  expect(order).toEqual(['ended'])
  expect(session.events.at(-1)?.data).toMatchObject({ content: text('last') })
})

test('a closed session takes nothing more and can be opened again', async () => {
  const { ctx } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj' })
  expect(ctx.sessions.get(session.id)).toBe(session)
  await session.close()
  expect(session.writable).toBe(false)
  expect(code(() => user(session, 'late'))).toBe('SESSION_READ_ONLY')
  expect(ctx.sessions.get(session.id)).toBeUndefined()
  const again = await ctx.sessions.open(session.id)
  expect(again.events.map((event) => event.type)).toEqual(['session/started', 'session/resumed'])
})

test('a second writer is refused, a reader is not', async () => {
  const { ctx } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj' })
  await expect(ctx.sessions.open(session.id)).rejects.toMatchObject({ code: 'SESSION_LOCKED' })
  const reader = await ctx.sessions.open(session.id, 'read')
  expect(code(() => user(reader, 'no'))).toBe('SESSION_READ_ONLY')
  expect(ctx.sessions.get(session.id)).toBe(session)
})

// BUG-077
test('ids that could leave the folder are refused, and __proto__ is an id like others', async () => {
  const { ctx } = await mount()
  for (const id of ['', '.', '..', 'a/b', 'a\\b', '.hidden', 'x'.repeat(129), 'a\u0000']) {
    await expect(ctx.sessions.create({ cwd: '/proj', id })).rejects.toMatchObject({ code: 'SESSION_ID_INVALID' })
    await expect(ctx.sessions.open(id)).rejects.toMatchObject({ code: 'SESSION_ID_INVALID' })
  }
  const session = await ctx.sessions.create({ cwd: '/proj', id: '__proto__' })
  expect(ctx.sessions.get('__proto__')).toBe(session)
  await expect(ctx.sessions.create({ cwd: '/proj', id: '__proto__' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
  await expect(ctx.sessions.open('absent')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})

test('sessions are listed newest first', async () => {
  const { ctx } = await mount()
  const first = await ctx.sessions.create({ cwd: '/one' })
  const second = await ctx.sessions.create({ cwd: '/two' })
  const list = await ctx.sessions.list()
  expect(list.map(({ id, cwd }) => ({ id, cwd }))).toEqual([
    { id: second.id, cwd: '/two' },
    { id: first.id, cwd: '/one' },
  ])
})
