import type { Context } from 'cordis'
import { expect, test } from 'vitest'
import type { EditIntent, IntentVerdict, WriteIntent } from '../src/index.ts'
import { versionOf } from '../src/index.ts'
import { INTENT_MS_MAX } from '../src/intents.ts'
import { setup } from './setup.ts'

const version = (text: string) => versionOf(Buffer.from(text))
const deny: IntentVerdict = { kind: 'deny', code: 'TEST_NO', reason: 'not today' }
const needs = (text: string): IntentVerdict => ({
  kind: 'pass',
  precondition: { kind: 'version', version: version(text) },
})

async function withListeners(...answers: ((intent: WriteIntent, next: () => unknown) => unknown)[]) {
  const all = await setup({ files: { '/proj/f': 'old\n' } })
  for (const [i, answer] of answers.entries()) {
    const listener = answer as (intent: WriteIntent) => IntentVerdict
    await all.ctx.plugin({ name: `listener-${i}`, apply: (ctx: Context) => void ctx.on('fs/write-intent', listener) })
  }
  return all
}

test('a deny registered after a pass still wins, and names code and reason', async () => {
  const { ctx, call, world } = await withListeners(
    () => ({ kind: 'pass' }),
    () => deny,
  )
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({
    code: 'FS_REFUSED',
    message: 'f: not today',
    data: { code: 'TEST_NO' },
  })
  expect(world.disk.effectCount).toBe(0)
})

test('a listener that does not call next hides nobody', async () => {
  const { ctx, call } = await withListeners(
    () => ({ kind: 'pass', precondition: { kind: 'none' } }),
    () => needs('other\n'),
  )
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({ code: 'FS_STALE' })
})

test.each([
  [
    'changes it',
    async (_intent: WriteIntent, next: () => unknown) => Object.assign((await next()) as object, { kind: 'pass' }),
  ],
  [
    'changes it and hides that it could not',
    async (_intent: WriteIntent, next: () => unknown) => {
      const verdict = (await next()) as object
      Reflect.set(verdict, 'kind', 'pass')
      return verdict
    },
  ],
])('a deny stands although a listener that is handed it %s', async (_how, cheat) => {
  const { ctx, call, world } = await withListeners(cheat, () => ({ ...deny }))
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({ code: 'FS_REFUSED' })
  expect(world.disk.effectCount).toBe(0)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('boom')
    },
    'the plugin listener-0, which must be asked, failed: boom',
  ],
  ['forgets to return', () => undefined, 'the plugin listener-0, which must be asked, gave an answer that is none'],
  ['denies without a reason', () => ({ kind: 'deny', code: 'X', reason: '' }), 'gave an answer that is none'],
  ['passes with nonsense', () => ({ kind: 'pass', precondition: { kind: 'version' } }), 'gave an answer that is none'],
  ['answers an unknown word', () => ({ kind: 'perhaps' }), 'gave an answer that is none'],
])('a listener that %s denies', async (_how, listener, reason) => {
  const { ctx, call, world } = await withListeners(listener)
  const write = ctx.fs.write('f', 'new\n', call())
  await expect(write).rejects.toMatchObject({ code: 'FS_REFUSED', data: { code: 'FS_INTENT_FAILED' } })
  await expect(write).rejects.toThrow(reason)
  expect(world.disk.text('/proj/f')).toBe('old\n')
})

test('two listeners that demand different states deny', async () => {
  const { ctx, call } = await withListeners(
    () => needs('old\n'),
    () => ({ kind: 'pass', precondition: { kind: 'absent' } }),
  )
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({ data: { code: 'FS_INTENT_CONFLICT' } })
})

test('a precondition is enforced: absence for a new file, a version for an old one', async () => {
  const absent = (): IntentVerdict => ({ kind: 'pass', precondition: { kind: 'absent' } })
  const first = await withListeners(absent)
  await expect(first.ctx.fs.write('f', 'new\n', first.call())).rejects.toMatchObject({ code: 'FS_STALE' })
  await first.ctx.fs.write('g', 'new\n', first.call())
  const second = await withListeners(() => needs('old\n'))
  await second.ctx.fs.write('f', 'new\n', second.call())
  expect(second.world.disk.text('/proj/f')).toBe('new\n')
  await expect(second.ctx.fs.write('g', 'new\n', second.call())).rejects.toMatchObject({ code: 'FS_STALE' })
})

test('next gives the joined answer of the listeners after it, asked once', async () => {
  let asked = 0
  const { ctx, call } = await withListeners(
    async (_intent, next) => {
      await next()
      return next()
    },
    () => {
      asked++
      return deny
    },
  )
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toThrow('not today')
  expect(asked).toBe(1)
})

test('an intent tells target, versions, texts and the call', async () => {
  const { ctx, call, session } = await setup({ files: { '/proj/f': 'old\n' } })
  const edits: EditIntent[] = []
  const writes: WriteIntent[] = []
  ctx.on('fs/edit-intent', (intent, next) => (edits.push(intent), next()))
  ctx.on('fs/write-intent', (intent, next) => (writes.push(intent), next()))
  await ctx.fs.edit('f', [{ oldText: 'old', newText: 'new' }], call('c1'))
  await ctx.fs.write('g', 'x', call('c2'))
  expect(edits).toMatchObject([
    { target: { path: '/proj/f' }, current: version('old\n'), oldTexts: ['old'], call: { id: 'c1' } },
  ])
  expect(writes).toMatchObject([
    { target: { path: '/proj/g', exists: false }, digest: version('x').digest, current: undefined },
  ])
  expect(writes[0]?.session).toBe(session)
})

test('an edit of a file that changed since it was seen lands with a note, if the old text occurs once', async () => {
  const { ctx, call, world } = await setup({ files: { '/proj/f': 'one\ntwo\nthree\n' } })
  ctx.on('fs/edit-intent', () => ({ kind: 'pass', seen: version('something else') }))
  const { notes } = await ctx.fs.edit('f', [{ oldText: 'two', newText: 'TWO' }], call())
  expect(notes).toEqual([
    'The file had changed elsewhere since it was last read. Lines 1 to 3 are now:\none\nTWO\nthree',
  ])
  for (const [oldText, detail] of [
    ['four', 'the old text is no longer there'],
    ['e', 'the old text now occurs 3 times (lines 1, 3, 3)'],
  ] as const) {
    const edit = ctx.fs.edit('f', [{ oldText, newText: 'x', replaceAll: true }], call())
    await expect(edit).rejects.toMatchObject({ code: 'FS_STALE', data: { detail } })
  }
  expect(world.disk.text('/proj/f')).toBe('one\nTWO\nthree\n')
})

// A body may not be held up for ever by a plugin that must be asked.
test('a listener that never answers denies when its time is over, and is named', async () => {
  const { ctx, call, world } = await withListeners(() => new Promise(() => {}))
  const write = expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({
    code: 'FS_REFUSED',
    data: { code: 'FS_INTENT_FAILED' },
    message: `f: the plugin listener-0, which must be asked, failed: fs/write-intent: no answer within ${INTENT_MS_MAX} ms`,
  })
  await world.clock.runUntilIdle()
  await write
  expect(world.disk.text('/proj/f')).toBe('old\n')
  expect(world.clock.pending).toBe(0)
})

test('a listener whose plugin is unloaded before it has answered denies', async () => {
  const { ctx, call, world } = await setup({ files: { '/proj/f': 'old\n' } })
  let answer: (verdict: IntentVerdict) => void = () => {}
  const asked = new Promise<void>((entered) => {
    void ctx.plugin({
      name: 'leaving',
      apply(own: Context) {
        own.on('fs/write-intent', () => (entered(), new Promise<IntentVerdict>((resolve) => (answer = resolve))))
      },
    })
  })
  const write = expect(ctx.fs.write('f', 'new\n', call())).rejects.toThrow('the plugin leaving, which must be asked')
  await asked
  for (const runtime of [...ctx.registry.values()].filter(({ name }) => name === 'leaving'))
    for (const fiber of runtime.fibers) await fiber.dispose()
  answer({ kind: 'pass' })
  await write
  expect(world.disk.text('/proj/f')).toBe('old\n')
})

test('no option of ctx.on puts the blame on another plugin', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': 'old\n' } })
  const victim = await ctx.plugin({ name: 'victim', apply: () => {} })
  await ctx.plugin({
    name: 'forger',
    apply: (own: Context) => void own.on('fs/write-intent', () => undefined as never, { ctx: victim.ctx } as never),
  })
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toThrow('the plugin forger, which must be asked')
})
