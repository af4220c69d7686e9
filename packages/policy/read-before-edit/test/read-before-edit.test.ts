import * as fsPlugin from '@sluice/fs'
import type { FsContext } from '@sluice/fs'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin, type Session } from '@sluice/session'
import { type SimWorldOptions, simWorld, worldPlugin } from '@sluice/testkit'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import * as readBeforeEdit from '../src/index.ts'

const ten = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join('')

async function setup(options: SimWorldOptions = {}) {
  const world = simWorld({ files: { '/proj/f': ten }, ...options })
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin, {})
  await ctx.plugin(fsPlugin, {})
  const fiber = await ctx.plugin(readBeforeEdit, {})
  let calls = 0
  const inSession = (session: Session) => (): FsContext => ({ session, call: { id: `c${++calls}`, tool: 'test' } })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const edit = (oldText: string, newText: string, call = inSession(session)) =>
    ctx.fs.edit('f', [{ oldText, newText }], call())
  return { ctx, world, session, fiber, call: inSession(session), inSession, edit }
}

const refused = (code: string) => ({ code: 'FS_REFUSED', data: { code } })

test('a file that was not read is neither edited nor overwritten', async () => {
  const { ctx, call, edit, world } = await setup()
  await expect(edit('line 1\n', 'x\n')).rejects.toMatchObject(refused('READ_BEFORE_EDIT_UNREAD'))
  await expect(ctx.fs.write('f', 'x', call())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_UNREAD'))
  expect(world.disk.effectCount).toBe(0)
})

test('a file that was read can be edited, and edited again without a new read', async () => {
  const { ctx, call, edit } = await setup()
  await ctx.fs.read('f', { limit: 2 }, call())
  expect((await edit('line 1\n', 'first\n')).notes).toEqual([])
  expect((await edit('first\n', 'FIRST\n')).notes).toEqual([])
})

// BUG-047
test('a touch, or the same bytes written again, is no change', async () => {
  const { ctx, call, edit, world } = await setup()
  await ctx.fs.read('f', {}, call())
  await world.clock.advance(60_000)
  world.disk.plant({ '/proj/f': ten })
  expect((await edit('line 1\n', 'first\n')).notes).toEqual([])
})

// BUG-047, BUG-049
test('a change elsewhere lands with a note that shows the lines', async () => {
  const { ctx, call, edit, world } = await setup()
  await ctx.fs.read('f', {}, call())
  world.disk.plant({ '/proj/f': ten.replace('line 9', 'other') })
  const { notes } = await edit('line 1\n', 'first\n')
  expect(notes).toHaveLength(1)
  expect(notes[0]).toContain('had changed elsewhere since it was last read. Lines 1 to 4 are now:\nfirst\nline 2')
  expect(world.disk.text('/proj/f')).toBe(ten.replace('line 9', 'other').replace('line 1\n', 'first\n'))
})

// BUG-047, BUG-049
test('a change inside the old text, or one that makes it ambiguous, is refused as stale', async () => {
  const { ctx, call, edit, world } = await setup()
  await ctx.fs.read('f', {}, call())
  world.disk.plant({ '/proj/f': ten.replace('line 2', 'other') })
  await expect(edit('line 2\n', 'x\n')).rejects.toMatchObject({ code: 'FS_STALE' })
  world.disk.plant({ '/proj/f': `${ten}line 3\n` })
  await expect(edit('line 3\n', 'x\n')).rejects.toMatchObject({ code: 'FS_STALE' })
  expect(world.disk.effectCount).toBe(0)
})

test('a whole file is written over only when the whole current version was seen', async () => {
  const { ctx, call, world } = await setup()
  await ctx.fs.read('f', { limit: 3 }, call())
  await expect(ctx.fs.write('f', 'x', call())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_PARTIAL'))
  await ctx.fs.read('f', { offset: 4 }, call())
  world.disk.plant({ '/proj/f': `${ten}more\n` })
  await expect(ctx.fs.write('f', 'x', call())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_STALE'))
  await ctx.fs.read('f', {}, call())
  await ctx.fs.write('f', 'x\n', call())
  await ctx.fs.write('f', 'y\n', call())
  expect(world.disk.text('/proj/f')).toBe('y\n')
})

test('a new file needs no read, and must still be absent when it is made', async () => {
  const { ctx, call, world } = await setup()
  await ctx.fs.write('new', 'x\n', call())
  expect(world.disk.text('/proj/new')).toBe('x\n')
})

// BUG-049
test('after compaction an unchanged file can be edited, and a whole write needs a new read', async () => {
  const { ctx, call, edit, session } = await setup()
  await ctx.fs.read('f', {}, call())
  session.append('compaction/done', { upTo: session.events.length - 1, summary: 's' })
  await edit('line 1\n', 'first\n')
  await expect(ctx.fs.write('f', 'x', call())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_PARTIAL'))
})

// BUG-049
test('what was read is known after resume, and not to another session', async () => {
  const { ctx, call, session, edit, inSession } = await setup()
  await ctx.fs.read('f', {}, call())
  await session.close()
  const resumed = await ctx.sessions.open(session.id)
  await edit('line 1\n', 'first\n', inSession(resumed))
  const other = await ctx.sessions.create({ cwd: '/proj' })
  const foreign = edit('line 2\n', 'x\n', inSession(other))
  await expect(foreign).rejects.toMatchObject(refused('READ_BEFORE_EDIT_UNREAD'))
})

// BUG-049
test('a fork knows what its parent had read, and the parent does not take the edit of the fork for its own', async () => {
  const { ctx, call, session, edit, inSession } = await setup()
  session.append('turn/started', { turn: 1 })
  await ctx.fs.read('f', {}, call())
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  await session.durable()
  const child = await ctx.sessions.fork(session.id)
  await edit('line 1\n', 'first\n', inSession(child))
  await expect(edit('line 1\n', 'first\n')).rejects.toMatchObject({ code: 'FS_STALE' })
})

// BUG-033
test('a file read under one spelling can be edited under another where the volume takes them as one', async () => {
  const { ctx, call } = await setup({ naming: 'folding', files: { '/proj/A.txt': 'a\n' } })
  await ctx.fs.read('A.txt', {}, call())
  await ctx.fs.edit('a.txt', [{ oldText: 'a', newText: 'b' }], call())
})

test('the reasons tell a model what to do', () => {
  const all = Object.entries(readBeforeEdit.readErrors.table).map(([code, row]) => [code, row.message(), row.remedy])
  expect(all).toMatchInlineSnapshot(`
    [
      [
        "READ_BEFORE_EDIT_UNREAD",
        "this file has not been read in this session",
        "Nothing was written. Read the file first, then change it.",
      ],
      [
        "READ_BEFORE_EDIT_PARTIAL",
        "only a part of this file has been shown, and a write replaces all of it",
        "Nothing was written. Read the whole file first, or edit the part that you have seen.",
      ],
      [
        "READ_BEFORE_EDIT_STALE",
        "this file has changed on disk since it was read",
        "Nothing was written. Read the file again, then decide.",
      ],
    ]
  `)
})

test('unloading the policy leaves nothing behind', async () => {
  const { ctx, edit, fiber } = await setup()
  await fiber.dispose()
  expect(ctx.events._hooks['fs/edit-intent']).toEqual([])
  expect(ctx.events._hooks['fs/write-intent']).toEqual([])
  await edit('line 1\n', 'x\n')
})

// files.md 8; session-log.md 5.2
test('what a person took back is not what the session has seen, after a resume either', async () => {
  const { ctx, session, call, inSession } = await setup()
  await ctx.fs.read('f', {}, call())
  const write = call()
  await ctx.fs.write('f', 'mine\n', write)
  await ctx.fs.undo(write.call.id, call())
  await expect(ctx.fs.write('f', 'mine again\n', call())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_STALE'))
  await session.close()
  const later = inSession(await ctx.sessions.open(session.id))
  await expect(ctx.fs.write('f', 'mine again\n', later())).rejects.toMatchObject(refused('READ_BEFORE_EDIT_STALE'))
  await ctx.fs.read('f', {}, later())
  await ctx.fs.write('f', 'mine again\n', later())
})
