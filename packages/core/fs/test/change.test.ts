import { expect, test } from 'vitest'
import { CHANGE_BYTES_MAX, observationOf, observations, versionOf } from '../src/index.ts'
import { turn } from '@sluice/testkit'
import { mounted, setup } from './setup.ts'

const temporaries = (tree: Record<string, unknown>) => Object.keys(tree).filter((path) => path.includes('/.sluice-'))

test('a write creates missing folders and the file, durably, and says what changed', async () => {
  const { ctx, world, session, call } = await setup()
  const result = await ctx.fs.write('a/b/new.txt', 'one\ntwo\n', call('c1'))
  expect(world.disk.text('/proj/a/b/new.txt')).toBe('one\ntwo\n')
  expect(result).toMatchObject({ before: undefined, linesAdded: 2, linesRemoved: 0 })
  expect(result.diff).toBe('--- /dev/null\n+++ a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two')
  const ops = world.disk.effects.map(({ op }) => op)
  expect(ops).toEqual(['mkdir', 'syncDir', 'mkdir', 'syncDir', 'create', 'write', 'sync', 'link', 'unlink', 'syncDir'])
  expect(session.events.map(({ type }) => type)).toEqual(['session/started', 'fs/changed', 'fs/observed'])
  expect(temporaries(world.disk.tree())).toEqual([])
})

test('a write over a file syncs before it renames and keeps the bytes from before', async () => {
  const { ctx, world, session, call } = await setup({ files: { '/proj/f': 'old\n' } })
  await ctx.fs.write('f', 'new\n', call('c1'))
  expect(world.disk.text('/proj/f')).toBe('new\n')
  expect(world.disk.effects.map(({ op }) => op)).toEqual(['create', 'write', 'sync', 'rename', 'syncDir'])
  const changed = session.events.find(({ type }) => type === 'fs/changed')
  expect(changed?.data).toMatchObject({ callId: 'c1', path: '/proj/f', before: versionOf(Buffer.from('old\n')) })
  const blob = await session.getBlob(versionOf(Buffer.from('old\n')))
  expect(Buffer.from(blob ?? [])).toEqual(Buffer.from('old\n'))
})

// BUG-042
test('a byte-order mark survives edit and write and is never doubled', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': '\uFEFFfirst\nsecond\n' } })
  await ctx.fs.edit('f', [{ oldText: 'first', newText: '1st' }], call())
  expect(world.disk.text('/proj/f')).toBe('1st\nsecond\n')
  expect((await ctx.fs.read('f', {}, call())).bom).toBe(true)
  await ctx.fs.write('f', 'new\n', call())
  const file = await world.disk.open('/proj/f', { read: true })
  const bytes = Buffer.alloc(16)
  expect(bytes.subarray(0, await file.read(bytes, 0))).toEqual(Buffer.from('\uFEFFnew\n'))
})

// BUG-043
test('a file that is not UTF-8 is refused for editing and keeps its bytes', async () => {
  const gbk = Buffer.from([0xb2, 0xe2, 0xca, 0xd4, 0x0a, 0x61, 0x62, 0x63, 0x0a])
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('abc\n', 'utf16le')])
  const { ctx, world, call } = await setup({
    files: { '/proj/g': gbk, '/proj/u': utf16, '/proj/b': new Uint8Array([97, 0]) },
  })
  for (const path of ['g', 'u', 'b']) {
    const edit = ctx.fs.edit(path, [{ oldText: 'a', newText: 'b' }], call())
    await expect(edit).rejects.toMatchObject({ code: 'FS_NOT_UTF8' })
  }
  expect(world.disk.effectCount).toBe(0)
})

// BUG-046
test('an edit that fails changes nothing, not even the times', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'aaaa\n' } })
  for (const [oldText, code] of [
    ['x', 'FS_NO_MATCH'],
    ['aa', 'FS_AMBIGUOUS'],
    ['', 'FS_EMPTY_OLD_TEXT'],
  ] as const) {
    await expect(ctx.fs.edit('f', [{ oldText, newText: 'b' }], call())).rejects.toMatchObject({ code })
  }
  await expect(ctx.fs.edit('f', [{ oldText: 'a', newText: 'a' }], call())).rejects.toMatchObject({
    code: 'FS_NO_CHANGE',
  })
  await expect(ctx.fs.edit('g', [{ oldText: 'a', newText: 'b' }], call())).rejects.toMatchObject({
    code: 'FS_NOT_FOUND',
  })
  expect(world.disk.effectCount).toBe(0)
})

// BUG-051
test('edit and write keep the mode, and new files follow the umask', async () => {
  const files = { '/proj/run.sh': { content: 'a\n', mode: 0o755 }, '/proj/conf': { content: 'a\n', mode: 0o640 } }
  const { ctx, world, call } = await setup({ files, host: { umask: 0o002 } })
  await ctx.fs.edit('run.sh', [{ oldText: 'a', newText: 'b' }], call())
  await ctx.fs.write('conf', 'b\n', call())
  await ctx.fs.write('n.txt', 'n\n', call())
  const modes = await Promise.all(
    ['run.sh', 'conf', 'n.txt'].map(async (name) => (await world.disk.stat(`/proj/${name}`)).mode),
  )
  expect(modes).toEqual([0o755, 0o640, 0o664])
})

// BUG-051
test('a read-only file is refused, never replaced by rename', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/ro': { content: 'a\n', mode: 0o444 } } })
  await expect(ctx.fs.write('ro', 'b\n', call())).rejects.toMatchObject({ code: 'FS_READ_ONLY' })
  await expect(ctx.fs.edit('ro', [{ oldText: 'a', newText: 'b' }], call())).rejects.toMatchObject({
    code: 'FS_READ_ONLY',
  })
  expect(world.disk.effectCount).toBe(0)
})

test('an owner that cannot be kept is said, and the set-user bit does not outlive it', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': { content: 'a\n', mode: 0o4777, uid: 7 } } })
  const { notes } = await ctx.fs.write('f', 'b\n', call())
  expect(notes).toEqual(['The owner of the file could not be kept.'])
  expect((await world.disk.stat('/proj/f')).mode).toBe(0o777)
})

// BUG-053
test('a disk that fails half way leaves the old content and no temporary file', async () => {
  for (const [op, code] of [
    ['write', 'ENOSPC'],
    ['sync', 'EIO'],
    ['rename', 'EXDEV'],
    ['create', 'EROFS'],
  ] as const) {
    const { ctx, world, call, session } = await setup({ files: { '/proj/f': 'old' } })
    world.disk.failNext(op, code, { partialBytes: 10 })
    await expect(ctx.fs.write('f', 'x'.repeat(100), call())).rejects.toMatchObject({ code: 'FS_DISK', data: { code } })
    expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'old' })
    expect(session.events.some(({ type }) => type === 'fs/changed')).toBe(false)
    expect(world.disk.openFiles).toBe(0)
  }
})

test('a full disk fails with the old content in place', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'old' } })
  world.disk.limit(10)
  await expect(ctx.fs.write('f', 'x'.repeat(100), call())).rejects.toMatchObject({ data: { code: 'ENOSPC' } })
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'old' })
})

test('a change whose new name is not confirmed by the disk is recorded and said', async () => {
  const { ctx, world, call, session } = await setup({ files: { '/proj/f': 'old' } })
  world.disk.failNext('syncDir', 'EIO')
  await expect(ctx.fs.write('f', 'new', call())).rejects.toMatchObject({ code: 'FS_NOT_DURABLE' })
  expect(world.disk.text('/proj/f')).toBe('new')
  expect(session.events.some(({ type }) => type === 'fs/changed')).toBe(true)
})

// BUG-053
test('a parent that is a file is named, and an edit creates no folders', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/a': 'file' } })
  await expect(ctx.fs.write('a/b/c.txt', 'x', call())).rejects.toMatchObject({
    code: 'FS_NOT_A_DIRECTORY',
    data: { path: '/proj/a', kind: 'file' },
  })
  const edit = ctx.fs.edit('x/y', [{ oldText: 'a', newText: 'b' }], call())
  await expect(edit).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
  expect(world.disk.tree('/proj')).toEqual({ '/proj/a': 'file' })
})

test('a hard-linked file is refused unless the call breaks the link', async () => {
  const files = { '/proj/f': 'old\n', '/proj/g': { hardLink: '/proj/f' } } as const
  const { ctx, world, call } = await setup({ files })
  await expect(ctx.fs.write('f', 'new\n', call())).rejects.toMatchObject({ code: 'FS_HARD_LINKED', data: { links: 2 } })
  await ctx.fs.write('f', 'new\n', { ...call(), breakHardLink: true })
  expect([world.disk.text('/proj/f'), world.disk.text('/proj/g')]).toEqual(['new\n', 'old\n'])
})

test('a symlink is written through and stays a link', async () => {
  const files = { '/proj/real': 'old\n', '/proj/l': { link: 'real' }, '/proj/d': { link: 'sub/new' } } as const
  const { ctx, world, call } = await setup({ files })
  await ctx.fs.write('l', 'new\n', call())
  await ctx.fs.write('d', 'made\n', call())
  expect(world.disk.tree('/proj')).toEqual({
    '/proj/d': '-> sub/new',
    '/proj/l': '-> real',
    '/proj/real': 'new\n',
    '/proj/sub/new': 'made\n',
  })
})

test('a file that changes between reading and swapping is not overwritten', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'old\n' } })
  const release = world.disk.hold('sync')
  const writing = ctx.fs.write('f', 'new\n', call())
  const outcome = expect(writing).rejects.toMatchObject({ code: 'FS_STALE' })
  await turn()
  const other = await world.disk.open('/proj/f', { write: true })
  await other.write(Buffer.from('OLD'), 0)
  release()
  await outcome
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'OLD\n' })
})

test('a file that appears while it is created is not overwritten', async () => {
  const { ctx, world, call } = await setup()
  const release = world.disk.hold('sync')
  const writing = ctx.fs.write('f', 'mine\n', call())
  const outcome = expect(writing).rejects.toMatchObject({ code: 'FS_STALE' })
  await turn()
  const other = await world.disk.open('/proj/f', { write: true, create: true })
  await other.write(Buffer.from('theirs\n'), 0)
  release()
  await outcome
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'theirs\n' })
})

test('a new file is made on a volume without hard links too', async () => {
  const { ctx, world, call } = await setup()
  world.disk.failNext('link', 'EPERM')
  await ctx.fs.write('f', 'x\n', call())
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'x\n' })
})

test('two changes of one file at the same time both land', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'a b\n', '/proj/l': { link: 'f' } }, shuffleTurns: 3 })
  await Promise.all([
    ctx.fs.edit('f', [{ oldText: 'a', newText: 'A' }], call()),
    ctx.fs.edit('l', [{ oldText: 'b', newText: 'B' }], call()),
  ])
  expect(world.disk.text('/proj/f')).toBe('A B\n')
})

test('an aborted change changes nothing', async () => {
  const { ctx, world, call } = await setup({ files: { '/proj/f': 'old\n' } })
  const controller = new AbortController()
  const release = world.disk.hold('sync')
  const writing = ctx.fs.write('f', 'new\n', { ...call(), signal: controller.signal })
  const outcome = expect(writing).rejects.toThrow('stop')
  await turn()
  controller.abort(new Error('stop'))
  release()
  await outcome
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'old\n' })
})

test('a text or file larger than can be changed is refused', async () => {
  const tooLong = 'x'.repeat(CHANGE_BYTES_MAX + 1)
  const { ctx, world, call } = await setup({ files: { '/proj/big': tooLong } })
  await expect(ctx.fs.write('f', tooLong, call())).rejects.toMatchObject({ code: 'FS_TOO_LARGE' })
  await expect(ctx.fs.write('big', 'x', call())).rejects.toMatchObject({ code: 'FS_TOO_LARGE' })
  await expect(ctx.fs.write('f', 'a\uD800', call())).rejects.toMatchObject({ code: 'FS_TEXT_INVALID' })
  expect(world.disk.effectCount).toBe(0)
})

/** A World in which a write of `/proj/f` has come as far as its temporary file, and the name of that. */
async function halfWritten() {
  const all = await setup({ files: { '/proj/f': 'old\n' } })
  const release = all.world.disk.hold('sync')
  const writing = all.ctx.fs.write('f', 'first\n', all.call())
  await turn()
  const temporary = Object.keys(all.world.disk.tree('/proj')).filter((path) => path !== '/proj/f')
  expect(temporary).toHaveLength(1)
  return { ...all, release, writing, temporary: String(temporary[0]) }
}

test('a temporary file of a dead process goes with the next change in its folder, that of a living one stays', async () => {
  const { temporary } = await halfWritten()
  const files = { '/proj/f': 'old\n', [temporary]: 'lost' }
  const dead = await setup({ host: { pid: 99 }, files })
  await dead.ctx.fs.write('f', 'new\n', dead.call())
  expect(dead.world.disk.tree('/proj')).toEqual({ '/proj/f': 'new\n' })

  const living = await setup({ host: { pid: 99 }, files })
  const { processes } = living.world
  const alive = { ...processes, isAlive: (pid: number) => pid === 4242, startTimeOf: () => undefined }
  const other = await mounted({ ...living.world, processes: alive })
  await other.fs.write('f', 'new\n', living.call())
  expect(living.world.disk.text(temporary)).toBe('lost')

  const recycled = { ...alive, startTimeOf: (pid: number) => (pid === 4242 ? 'later' : undefined) }
  const third = await mounted({ ...living.world, processes: recycled })
  await third.fs.write('f', 'newer\n', living.call())
  expect(living.world.disk.text(temporary)).toBeUndefined()
})

test('a temporary file of a dead process goes when anything in its folder is read, if that folder may be changed', async () => {
  const { temporary } = await halfWritten()
  const files = { '/proj/f': 'old\n', [temporary]: 'lost' }
  const dead = await setup({ host: { pid: 99 }, files })
  const allow = dead.ctx.fs.restrict('read-only', (_, access) =>
    access === 'write' ? { code: 'TEST', reason: 'read-only' } : undefined,
  )
  await dead.ctx.fs.read('f', {}, dead.call())
  expect(dead.world.disk.text(temporary)).toBe('lost')
  allow()
  const next = await mounted(dead.world)
  await next.fs.read('f', {}, dead.call())
  expect(dead.world.disk.tree('/proj')).toEqual({ '/proj/f': 'old\n' })
})

test('a session that goes on clears the folders of all files that it has seen, whatever it touches first', async () => {
  const first = await setup({ files: { '/proj/d/f': 'x\n', '/proj/g': 'y\n' } })
  await first.ctx.fs.read('d/f', {}, first.call())
  const left = '/proj/d/.sluice-00000000-77-00000000-tmp_1'
  const own = first.world.disk
  const { temporary } = await halfWritten()
  own.plant({ [left]: 'of another host', [temporary.replace('/proj/', '/proj/d/')]: 'lost' })
  const next = await mounted({ ...first.world, host: { ...first.world.host, pid: 99 } })
  await next.fs.read('g', {}, first.call())
  expect(own.tree('/proj')).toEqual({ '/proj/d/f': 'x\n', '/proj/g': 'y\n', [left]: 'of another host' })
})

test('a temporary file that another part of this process is writing stays', async () => {
  const { world, call, release, writing, temporary } = await halfWritten()
  const other = await mounted(world)
  await other.fs.list('.', call())
  expect(world.disk.text(temporary)).toBe('first\n')
  release()
  await writing
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'first\n' })
})

test('what a session has seen after a change is the new version', async () => {
  const { ctx, session, call } = await setup({ files: { '/proj/f': 'a\nb\n', '/proj/g': 'a\nb\n' } })
  const seen = async (path: string) => observationOf(session.fold(observations), await ctx.fs.resolve(path, session))
  await ctx.fs.read('f', {}, call())
  const edited = await ctx.fs.edit('f', [{ oldText: 'a', newText: 'A' }], call())
  expect(await seen('f')).toMatchObject({ seen: 'whole', version: edited.after })
  await ctx.fs.read('g', { limit: 1 }, call())
  await ctx.fs.edit('g', [{ oldText: 'a', newText: 'A' }], call())
  expect(await seen('g')).toMatchObject({ seen: [] })
})
