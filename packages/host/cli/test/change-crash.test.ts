/** Proves that whatever moment the machine dies at, log, file and the bytes from before never tell different stories. */
import { createHash } from 'node:crypto'
import * as fsPlugin from '@sluice/fs'
import * as readBeforeEdit from '@sluice/read-before-edit'
import * as sessionPlugin from '@sluice/session'
import type { Session, SessionEvent } from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import { type CrashState, everyCrash, keepAtRandom, seededRandom, type SimWorld, turn } from '@sluice/testkit'
import * as toolFs from '@sluice/tool-fs'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import { expect, test } from 'vitest'
import { machine, SESSIONS } from './recorded.ts'

const old = 'old line\nkept\n'
const next = 'new line\nkept\n'

async function host(world: SimWorld) {
  const ctx = new Context()
  ctx.provide('world', world)
  await ctx.plugin(storePlugin, {})
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
  for (const plugin of [fsPlugin, readBeforeEdit, toolFs]) await ctx.plugin(plugin)
  const call = async (session: Session, id: string, tool: string, args: Record<string, string | object[]>) => {
    const { outcome } = (await ctx.tools.execute({ session, call: { id, tool, arguments: args as never } })).result
    return outcome.tag === 'failed' ? outcome.code : outcome.tag
  }
  const edit = (session: Session, id: string, oldText: string, newText: string) =>
    call(session, id, 'edit', { path: 'f', edits: [{ oldText, newText }] })
  return { ctx, call, edit }
}

async function act(world: SimWorld, run: Run): Promise<void> {
  const { ctx, call, edit } = await host(world)
  const session = await ctx.sessions.create({ cwd: '/proj', id: 's' })
  await call(session, 'r', 'read', { path: 'f' })
  await whileOthersWait(session, edit(session, 'c1', 'old', 'new'))
  await session.durable()
  run.isUndoing = true
  await whileOthersWait(session, ctx.fs.undo('c1', { session, call: { id: 'u1', tool: 'undo' } }))
  await session.close()
}

/** Others make the log durable all the time, so that it tells of the change as early as can be. */
async function whileOthersWait(session: Session, change: Promise<unknown>): Promise<void> {
  let isDone = false
  const done = change.finally(() => (isDone = true))
  // A machine that dies takes it along.
  done.catch(() => undefined)
  for (let turns = 0, told = 0; !isDone && turns < 200; turns++) {
    if (session.events.length > told) void session.durable().catch(() => undefined)
    told = session.events.length
    await turn()
  }
  await done
}

const changesOf = (session: Session) =>
  session.events.flatMap((event) => (event.type === 'fs/changed' ? [(event as SessionEvent<'fs/changed'>).data] : []))

const results = (session: Session) =>
  session.events.flatMap(({ type, data }) =>
    type === 'tool/result' && (data as { outcome: { tag: string } }).outcome.tag === 'succeeded'
      ? [(data as { callId: string }).callId]
      : [],
  )

/** One run of {@link act}, and what all of them came to. */
interface Run {
  isUndoing: boolean
  lostRenames: number
  untold: number
}

async function check(world: SimWorld, run: Run): Promise<void> {
  const content = world.disk.text('/proj/f')
  expect([old, next]).toContain(content)
  // files.md 8: the bytes from before are a blob for as long as anything else stands in their place.
  if (content === next) {
    const digest = createHash('sha256').update(old).digest('hex')
    expect(world.disk.text(`${SESSIONS}/s/blobs/${digest}`)).toBe(old)
  }
  const { ctx, edit } = await host(world)
  if ((await ctx.sessions.list()).length === 0) return
  const session = await ctx.sessions.open('s')
  const changes = changesOf(session)
  // What the model was told is done has been done.
  if (results(session).includes('c1')) expect([next, ...(run.isUndoing ? [old] : [])]).toContain(content)
  for (const change of changes) {
    if (change.beforeBlob) expect(await session.getBlob(change.beforeBlob)).toBeDefined()
  }
  const last = changes.filter(({ path }) => path === '/proj/f').at(-1)
  const text = (digest: string | undefined) => (digest === createHash('sha256').update(next).digest('hex') ? next : old)
  if (!last) {
    if (content === next) run.untold++
    return session.close()
  }
  // files.md 8: undo restores what the call left, and otherwise refuses and touches nothing.
  const isThere = content === text(last.after?.digest)
  const undoing = ctx.fs.undo(last.callId, { session, call: { id: 'later', tool: 'undo' } })
  if (isThere) {
    await undoing
    expect(world.disk.text('/proj/f')).toBe(text(last.before?.digest))
  } else {
    run.lostRenames++
    await expect(undoing).rejects.toMatchObject({ code: 'FS_STALE' })
    expect(world.disk.text('/proj/f')).toBe(content)
    // files.md 5: the file is not what the session left; an edit lands where its text is, or says that it is gone.
    const first = content === old ? 'old' : 'new'
    expect(await edit(session, 'e1', first === 'old' ? 'new' : 'old', 'x')).toBe('FS_STALE')
    expect(await edit(session, 'e2', first, 'last')).toBe('succeeded')
    expect(world.disk.text('/proj/f')).toBe('last line\nkept\n')
  }
  await session.close()
}

// files.md 4, 5, 8; session-log 2.2
test('after a crash at any moment undo, the next edit and every result are as the log and the file say', async () => {
  const run: Run = { isUndoing: false, lostRenames: 0, untold: 0 }
  const random = seededRandom(5)
  const every = {
    make: () => {
      run.isUndoing = false
      return machine({ files: { '/proj/f': old } })
    },
    act: (world: SimWorld) => act(world, run),
    check: (world: SimWorld) => check(world, run),
  }
  const states = (): CrashState[] => [
    { label: 'nothing kept', keep: () => false },
    { label: 'all kept', keep: () => true },
    { label: 'some kept', keep: keepAtRandom(random) },
  ]
  expect(await everyCrash({ ...every, states })).toBeGreaterThan(100)
  // The new name is gone although the log tells of it, and the other way round.
  expect(run.lostRenames).toBeGreaterThan(0)
  expect(run.untold).toBeGreaterThan(0)
}, 60_000)
