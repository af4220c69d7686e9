import { expect, test } from 'vitest'
import { interruptedText, type Session } from '../src/index.ts'
import { type Mounted, mount } from './mount.ts'
import { assistant, brief, card, result, resultData, taken, text, user } from './say.ts'

/** Opens again what a process has left behind. */
async function reopened(mounted: Mounted, session: Session): Promise<Session> {
  await session.close()
  return mounted.ctx.sessions.open(session.id)
}

function typesFrom(session: Session, seq: number): string[] {
  return session.events.slice(seq).map((event) => event.type)
}

async function start(): Promise<{ mounted: Mounted; session: Session }> {
  const mounted = await mount()
  return { mounted, session: await mounted.ctx.sessions.create({ cwd: '/proj' }) }
}

// BUG-002
test('a call without a result is settled as interrupted when the log is opened, once', async () => {
  const { mounted, session } = await start()
  session.append('turn/started', { turn: 1 })
  session.append('step/started', { turn: 1, step: 1 })
  user(session, 'go')
  assistant(session, '', ['a', 'b', 'c', 'd'])
  taken(session, 'b')
  taken(session, 'c')
  session.append('tool/started', { callId: 'c', attempt: 1 })
  taken(session, 'd', true)
  const length = session.events.length
  const once = await reopened(mounted, session)
  const results = once.events.filter((event) => event.type === 'tool/result')
  expect(results.map(({ data }) => data)).toMatchObject([
    { callId: 'a', outcome: { tag: 'interrupted', executed: 'no' }, content: text(interruptedText('no')) },
    { callId: 'b', outcome: { tag: 'interrupted', executed: 'no' } },
    { callId: 'c', outcome: { tag: 'interrupted', executed: 'unknown' }, content: text(interruptedText('unknown')) },
    { callId: 'd', outcome: { tag: 'interrupted', executed: 'unknown' } },
  ])
  expect(typesFrom(once, length + 4)).toEqual(['step/ended', 'turn/ended', 'session/repaired', 'session/resumed'])
  expect(once.events.at(-2)?.data).toEqual({ interrupted: ['a', 'b', 'c', 'd'], closed: 6 })
  expect(brief(once).slice(1)).toEqual(['assistant (a,b,c,d)', 'result a', 'result b', 'result c', 'result d'])
  const repaired = once.events.length
  const twice = await reopened(mounted, once)
  expect(typesFrom(twice, repaired)).toEqual(['session/resumed'])
})

// BUG-002
test('a log left inside a call can be compacted after it was opened', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a'])
  taken(session, 'a')
  const once = await reopened(mounted, session)
  once.append('compaction/done', { upTo: once.events.length - 1, summary: 'S' })
  user(once, 'continue')
  expect(brief(once)).toHaveLength(2)
})

test('open questions are cancelled and nested calls are settled before the call around them', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a'])
  taken(session, 'a')
  session.append('tool/started', { callId: 'a', attempt: 1 })
  const call = { callId: 'n', tool: 'probe', argumentsText: '{}', readOnly: false, card, batch: 0, index: 0 }
  session.append('tool/code-dispatch', { callId: 'm', parent: 'a', phase: 'start', call: { ...call, callId: 'm' } })
  session.append('tool/code-dispatch', { callId: 'm', parent: 'a', phase: 'settle', result: resultData('m') })
  session.append('tool/code-dispatch', { callId: 'n', parent: 'a', phase: 'start', call })
  session.append('tool/started', { callId: 'n', attempt: 1 })
  session.append('approval/asked', { callId: 'n', question: 'May it?', asks: [], card })
  const length = session.events.length
  const once = await reopened(mounted, session)
  expect(once.events.slice(length, -2).map(({ type, data }) => ({ type, data }))).toMatchObject([
    {
      type: 'tool/code-dispatch',
      data: { callId: 'n', parent: 'a', phase: 'settle', result: { outcome: { executed: 'unknown' } } },
    },
    { type: 'approval/decided', data: { callId: 'n', decision: 'cancelled', by: 'session' } },
    { type: 'tool/result', data: { callId: 'a', outcome: { tag: 'interrupted', executed: 'unknown' } } },
  ])
})

test('hooks that were running are closed as interrupted, each run of one by its own start', async () => {
  const { mounted, session } = await start()
  const hook = { file: '/proj/.claude/settings.json', event: 'PreToolUse', index: 0 }
  const other = { ...hook, index: 1 }
  const open = session.append('hook/invoked', { hook, callId: 'a' })
  const ended = session.append('hook/invoked', { hook, callId: 'b' })
  const last = session.append('hook/invoked', { hook: other })
  const told = { exitCode: 2, durationMs: 5, decision: 'deny', stderrTail: 'no' } as const
  session.append('hook/result', { hook, ...told }, { cause: ended.seq })
  const length = session.events.length
  mounted.orphans.push(session.id)
  const once = await reopened(mounted, session)
  expect(once.events.slice(length)).toMatchObject([
    { type: 'hook/result', data: { hook: other, decision: 'interrupted' }, cause: last.seq },
    { type: 'hook/result', data: { hook, decision: 'interrupted' }, cause: open.seq },
    { type: 'session/repaired', data: { interrupted: [], closed: 2 } },
    // The process of a hook is ended too.
    { type: 'session/resumed', data: { ended: 1 } },
  ])
  const repaired = once.events.length
  expect(typesFrom(await reopened(mounted, once), repaired)).toEqual(['session/resumed'])
})

test('contexts that a result carries and nobody has told are told after the batch, in request order', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a', 'b'])
  result(session, 'b', 'r', ['from b'])
  result(session, 'a', 'r', ['first from a', 'second from a'])
  user(session, 'first from a', 'hook')
  const once = await reopened(mounted, session)
  expect(brief(once).slice(3)).toEqual(['user first from a', 'user second from a', 'user from b'])
  const twice = await reopened(mounted, once)
  expect(brief(twice)).toEqual(brief(once))
})

test('contexts are not told again when the model has gone on', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a'])
  result(session, 'a', 'r', ['told in other words'])
  assistant(session, 'done')
  const once = await reopened(mounted, session)
  expect(brief(once)).toEqual(['assistant (a)', 'result a', 'assistant done'])
})

test('repair looks at every step, not only the last', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['early'])
  user(session, 'meanwhile')
  assistant(session, '', ['late'])
  result(session, 'late')
  const once = await reopened(mounted, session)
  expect(once.events.at(-2)?.data).toEqual({ interrupted: ['early'], closed: 1 })
  expect(once.messages()[1]).toMatchObject({ callId: 'early', content: text(interruptedText('no')) })
})

test('a log that ended cleanly needs no repair', async () => {
  const { mounted, session } = await start()
  session.append('turn/started', { turn: 1 })
  assistant(session, '', ['a'])
  result(session, 'a')
  session.append('turn/ended', { turn: 1, reason: 'completed' })
  const length = session.events.length
  expect(typesFrom(await reopened(mounted, session), length)).toEqual(['session/resumed'])
})

test('a reader repairs nothing', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a'])
  await session.close()
  const reader = await mounted.ctx.sessions.open(session.id, 'read')
  expect(reader.events).toHaveLength(2)
})

// session-log.md 4.4
test('a process that a dead host left for a call is ended before its session goes on, and told of', async () => {
  const { mounted, session } = await start()
  taken(session, 'a')
  mounted.orphans.push(session.id, 'another session', session.id)
  const once = await reopened(mounted, session)
  expect(mounted.orphans).toEqual(['another session'])
  expect(once.events.at(-1)).toMatchObject({ type: 'session/resumed', data: { ended: 2 } })
})

test('processes are looked for only by a writer, and only when there were calls since it was last done', async () => {
  const { mounted, session } = await start()
  taken(session, 'a')
  await session.close()
  mounted.orphans.push(session.id)
  await mounted.ctx.sessions.open(session.id, 'read')
  expect(mounted.orphans).toHaveLength(1)
  const writer = await mounted.ctx.sessions.open(session.id)
  mounted.orphans.push(session.id)
  await reopened(mounted, writer)
  expect(mounted.orphans).toHaveLength(1)
})

test('a session whose opening fails is held by nobody', async () => {
  const { mounted, session } = await start()
  assistant(session, '', ['a'])
  taken(session, 'a')
  await session.close()
  const { ctx } = await mount(mounted.store)
  Object.assign(ctx.world.processes, { endOrphans: () => Promise.reject(new Error('the system does not tell')) })
  await expect(ctx.sessions.open(session.id)).rejects.toThrow('does not tell')
  expect(ctx.sessions.get(session.id)).toBeUndefined()
  expect((await mounted.ctx.sessions.open(session.id)).writable).toBe(true)
})
