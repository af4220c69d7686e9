import { expect, test } from 'vitest'
import type { Session, SessionEvent } from '../src/index.ts'
import { mount } from './mount.ts'
import { assistant, brief, result, user } from './say.ts'

function turn(session: Session, number: number): SessionEvent {
  session.append('turn/started', { turn: number })
  user(session, `question ${number}`)
  assistant(session, '', [`c${number}`])
  result(session, `c${number}`)
  assistant(session, `answer ${number}`)
  return session.append('turn/ended', { turn: number, reason: 'completed' })
}

async function parent() {
  const { ctx } = await mount()
  const session = await ctx.sessions.create({ cwd: '/proj', id: 'parent' })
  const ends = [turn(session, 1), turn(session, 2)]
  return { sessions: ctx.sessions, session, ends: ends.map((end) => end.seq) }
}

test('a fork has the past of its parent and a future of its own', async () => {
  const { sessions, session } = await parent()
  const before = session.events.slice()
  const child = await sessions.fork('parent', { id: 'child' })
  expect(child.events[0]?.data).toEqual({ format: 1, id: 'child', cwd: '/proj', parent: { id: 'parent', seq: 12 } })
  expect(child.events.slice(1)).toEqual(before.slice(1))
  expect(brief(child)).toEqual(brief(session))
  turn(child, 3)
  expect(session.events).toEqual(before)
  await child.close()
  const again = await sessions.open('child')
  expect(again.events.map((event) => event.seq)).toEqual([...again.events.keys()])
  expect(brief(again).at(-1)).toBe('assistant answer 3')
})

test('a fork inside a turn moves back to the end of the turn before', async () => {
  const { sessions, ends } = await parent()
  for (const seq of [ends[0] as number, (ends[0] as number) + 1, (ends[1] as number) - 1]) {
    const child = await sessions.fork('parent', { seq })
    expect(child.events.at(-1)?.seq).toBe(ends[0])
  }
})

test('a session in which no turn has ended cannot be forked', async () => {
  const { sessions } = await parent()
  await expect(sessions.fork('parent', { seq: 3 })).rejects.toMatchObject({ code: 'SESSION_FORK_REFUSED' })
  const fresh = await sessions.create({ cwd: '/proj' })
  await expect(sessions.fork(fresh.id)).rejects.toMatchObject({ code: 'SESSION_FORK_REFUSED' })
  await expect(sessions.fork('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  await expect(sessions.fork('../x')).rejects.toMatchObject({ code: 'SESSION_ID_INVALID' })
  await expect(sessions.fork('parent', { id: 'parent' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' })
})

test('a fork has the blobs that its past names', async () => {
  const { sessions, session } = await parent()
  const ref = await session.putBlob(Buffer.from('picture'), { mediaType: 'image/png' })
  turn(session, 3)
  const late = await session.putBlob(Buffer.from('later'), { mediaType: 'image/png' })
  const child = await sessions.fork('parent')
  expect(await child.getBlob(ref)).toEqual(new Uint8Array(Buffer.from('picture')))
  expect(await child.getBlob(late)).toBeUndefined()
})

test('a forked session can be compacted and forked again', async () => {
  const { sessions } = await parent()
  const child = await sessions.fork('parent', { id: 'child' })
  child.append('compaction/done', { upTo: child.events.length - 1, summary: 'S' })
  turn(child, 3)
  const grandchild = await sessions.fork('child')
  expect(brief(grandchild)).toEqual(brief(child))
  expect(grandchild.events[0]?.data).toMatchObject({ parent: { id: 'child' } })
})

test('a fork of a session that another process has gone on with has all of its past', async () => {
  const { ctx, store } = await mount()
  const first = await ctx.sessions.create({ cwd: '/proj', id: 'parent' })
  turn(first, 1)
  await first.close()
  const reader = await ctx.sessions.open('parent', 'read')
  const other = await (await mount(store)).ctx.sessions.open('parent')
  turn(other, 2)
  await other.close()
  const child = await ctx.sessions.fork('parent')
  expect(brief(child)).toEqual(brief(other))
  await reader.close()
})
