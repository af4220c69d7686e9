import { expect, test } from 'vitest'
import { logOf, machine, processOn, bitFlip, sluice, spoil, writer } from './recorded.ts'

/** A session whose call `c1` changed two files and whose call `c2` made one. */
async function changed() {
  const world = machine({ files: { '/proj/work/a.txt': 'one\n', '/proj/work/b.txt': 'b\r\n' } })
  const ctx = await writer(world)
  const session = await ctx.sessions.create({ cwd: '/proj/work', id: 's' })
  session.append('user/message', { content: [{ type: 'text', text: 'question 1' }], source: 'user' })
  const call = (id: string) => ({ session, call: { id, tool: 'write' } })
  await ctx.fs.write('a.txt', 'two\nthree\n', call('c1'))
  await ctx.fs.write('b.txt', 'B\n', call('c1'))
  await ctx.fs.write('c.txt', 'new\n', call('c2'))
  await session.close()
  return world
}

// files.md 8
test('undo puts back the bytes from before a call, writes it down, and can itself be undone', async () => {
  const world = await changed()
  const done = await sluice(world, ['undo', 's', 'c1'])
  expect(done.code).toBe(0)
  expect(done.out).toBe('restored /proj/work/a.txt (+1 −2)\nrestored /proj/work/b.txt (+1 −1)\n')
  expect(world.disk.tree('/proj/work')).toEqual({
    '/proj/work/a.txt': 'one\n',
    '/proj/work/b.txt': 'b\r\n',
    '/proj/work/c.txt': 'new\n',
  })
  const [, again = ''] = /this can be undone: sluice undo s (\S+)\n/.exec(done.err) ?? []
  expect(world.disk.text(logOf('s'))).toContain(`"type":"fs/changed","data":{"callId":"${again}"`)
  expect((await sluice(world, ['undo', 's', again])).code).toBe(0)
  expect(world.disk.text('/proj/work/a.txt')).toBe('two\nthree\n')
  expect((await sluice(world, ['undo', 's', 'c2'])).out).toBe('removed /proj/work/c.txt\n')
  expect((await sluice(world, ['session', 'verify', 's'])).code).toBe(0)
})

// session-log.md 1.9, files.md 8
test('what a person took back is shown and exported with the session', async () => {
  const world = await changed()
  await sluice(world, ['undo', 's', 'c1'])
  await sluice(world, ['undo', 's', 'c2'])
  const told = [
    '↶ took back call c1: restored /proj/work/a.txt',
    '↶ took back call c1: restored /proj/work/b.txt',
    '↶ took back call c2: removed /proj/work/c.txt',
  ]
  const lines = (text: string) => text.split('\n').filter((line) => line.includes('took back'))
  expect(lines((await sluice(world, ['session', 'show', 's'])).out)).toEqual(told)
  const markdown = await sluice(world, ['session', 'export', 's', '--format', 'markdown'])
  expect(lines(markdown.out)).toEqual(told.map((line) => `*${line}*`))
  const { events } = JSON.parse((await sluice(world, ['session', 'export', 's', '--format', 'json'])).out) as {
    events: { type: string; data: { undoes?: string } }[]
  }
  const changes = events.filter(({ type }) => type === 'fs/changed')
  expect(changes.map(({ data }) => data.undoes)).toEqual([undefined, undefined, undefined, 'c1', 'c1', 'c2'])
})

test('undo without a call lists the calls that changed files, newest first', async () => {
  const world = await changed()
  expect(await sluice(world, ['undo', 's'])).toEqual({
    code: 0,
    out: 'c2  /proj/work/c.txt\nc1  /proj/work/a.txt  /proj/work/b.txt\n',
    err: '',
  })
})

test('what was taken back is marked in the list, and taken back once', async () => {
  const world = await changed()
  await sluice(world, ['undo', 's', 'c1'])
  const listed = async () => (await sluice(world, ['undo', 's'])).out.replaceAll(/undo[-_]\S+/g, 'U')
  expect(await listed()).toBe(
    'U  /proj/work/a.txt  /proj/work/b.txt\n' +
      'c2  /proj/work/c.txt\n' +
      'c1  /proj/work/a.txt (taken back)  /proj/work/b.txt (taken back)\n',
  )
  expect(await sluice(world, ['undo', 's', 'c1'])).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'nothing to undo for call c1: it was taken back already (FS_NOTHING_TO_UNDO)',
    ) as string,
  })
})

test('undo refuses what is not as the call left it, what changed nothing, and what it could not write down', async () => {
  const world = await changed()
  world.disk.plant({ '/proj/work/b.txt': 'somebody else\n' })
  const before = world.disk.tree('/proj/work')
  const refused = async (machineNow: typeof world, call: string, why: string) => {
    const { code, out, err } = await sluice(machineNow, ['undo', 's', call])
    expect([code, out, err.includes(why)], why).toEqual([1, '', true])
    expect(world.disk.tree('/proj/work')).toEqual(before)
  }
  await refused(world, 'c1', '(FS_STALE)')
  await refused(world, 'c9', 'nothing to undo for call c9: it changed no file in s (FS_NOTHING_TO_UNDO)')
  const session = await (await writer(processOn(world, 77))).sessions.open('s')
  await refused(world, 'c2', 'session s is being written by process 77 on sim (SESSION_LOCKED)')
  await session.close()
  spoil(world, 's', bitFlip)
  await refused(world, 'c2', 'session s is damaged at line 2 (bad-crc')
  await refused(world, 'c2', '(CLI_SESSION_DAMAGED)')
  expect((await sluice(world, ['undo', 'x', 'c2'])).err).toContain('CLI_SESSION_UNKNOWN')
})
