import { expect, test } from 'vitest'
import * as toolFs from '../src/index.ts'
import { remedies } from '../src/prompt.ts'
import { setup } from './setup.ts'

const jpeg = Buffer.from('ffd8ffc0000b08000100010101110000ffd9', 'hex')

test('read shows numbered lines whose numbers cannot be taken for a tab of the file', async () => {
  const { text } = await setup({ '/proj/Makefile': `all:\n${'\tcc a.c\n'.repeat(10)}` })
  expect(await text('read', { path: 'Makefile', offset: 1, limit: 2 })).toBe(
    '1\u2502all:\n2\u2502\tcc a.c\n[There is more: the file has 11 lines. Continue with offset 3.]',
  )
  expect(await text('read', { path: 'Makefile', offset: 9, limit: 2 })).toContain(
    ' 9\u2502\tcc a.c\n10\u2502\tcc a.c\n',
  )
})

// BUG-044
test('an edit with the line numbers of read is refused with a hint and changes nothing', async () => {
  const { text, world } = await setup({ '/proj/f': 'all:\n\tcc a.c\n' })
  const shown = await text('read', { path: 'f' })
  const answer = await text('edit', { path: 'f', edits: [{ oldText: shown, newText: 'x' }] })
  expect(answer).toBe(
    'the old text does not occur in /proj/f: it holds the line numbers of the read tool; leave them out. Read that part of the file again and copy the text exactly.',
  )
  expect(world.disk.effectCount).toBe(0)
})

// BUG-039
test('an edit says what changed, and the difference shown is what is on disk', async () => {
  const { run, text, world } = await setup({ '/proj/f': 'A old B\n' })
  const newText = "x=$'y $& $$ $`z $1 $<n>"
  const { data } = await run('edit', { path: 'f', edits: [{ oldText: 'old', newText }] })
  expect(world.disk.text('/proj/f')).toBe(`A ${newText} B\n`)
  expect(data.card).toEqual({
    v: 1,
    kind: 'diff',
    title: 'Edit f (+1 −1)',
    path: 'f',
    diff: `--- f\n+++ f\n@@ -1,1 +1,1 @@\n-A old B\n+A ${newText} B`,
  })
  expect(await text('edit', { path: 'f', edits: [{ oldText: 'A', newText: 'a' }] })).toMatch(
    /^Edited f: 1 line added, 1 removed\.\n--- f\n/,
  )
})

test('several edits of one call apply together or not at all', async () => {
  const { text, world } = await setup({ '/proj/f': 'one\ntwo\n' })
  const edits = [
    { oldText: 'one', newText: '1' },
    { oldText: 'three', newText: '3' },
  ]
  expect(await text('edit', { path: 'f', edits })).toContain('the old text of piece 2 does not occur')
  expect(world.disk.text('/proj/f')).toBe('one\ntwo\n')
})

test('write tells a new file from one that was replaced', async () => {
  const { text } = await setup()
  expect(await text('write', { path: 'a/b', content: 'x\ny\n' })).toBe('Created a/b with 2 lines.')
  expect(await text('write', { path: 'a/b', content: 'x\nz\n' })).toBe('Wrote a/b: 1 line added, 1 removed.')
  expect(await text('write', { path: 'a/b', content: 'x\nz\n' })).toContain('[The file had this content already.]')
})

test('a hard-linked file is replaced only when the call says so', async () => {
  const { text, world } = await setup({ '/proj/f': 'x\n', '/proj/g': { hardLink: '/proj/f' } })
  expect(await text('write', { path: 'f', content: 'y\n' })).toContain('Set breakHardLink')
  await text('write', { path: 'f', content: 'y\n', breakHardLink: true })
  expect(world.disk.tree('/proj')).toEqual({ '/proj/f': 'y\n', '/proj/g': 'x\n' })
})

// BUG-054
test('an image goes to the model as an image whatever its name, and its bytes are a blob of the session', async () => {
  const { run, session, text } = await setup({
    '/proj/a.png': jpeg,
    '/proj/fake.png': '<svg/>',
    '/proj/c.jpg': '%PDF-1.7',
  })
  const { result } = await run('read', { path: 'a.png' })
  expect(result.content).toMatchObject([{ type: 'image', mediaType: 'image/jpeg', blob: { size: jpeg.length } }])
  const [part] = result.content
  expect(part?.type === 'image' && (await session.getBlob(part.blob))).toEqual(new Uint8Array(jpeg))
  expect(await text('read', { path: 'fake.png' })).toBe('1\u2502<svg/>')
  expect(await text('read', { path: 'c.jpg' })).toBe('[Binary content (application/pdf, 8 bytes) is not shown.]')
})

test('list marks folders and links and gives sizes', async () => {
  const { text } = await setup({ '/proj/b': '12', '/proj/a/x': '', '/proj/l': { link: 'b' }, '/proj/e': null })
  expect(await text('list', {})).toBe('a/\nb  2\ne/\nl@')
  expect(await text('list', { path: 'e' })).toBe('The folder is empty.')
})

test('cards say what a call is about before it runs and what it came to', async () => {
  const { run, session } = await setup({ '/proj/f': 'a\nb\nc\n' })
  const cards = async (tool: string, args: Record<string, unknown>) => {
    const { data } = await run(tool, args)
    const call = session.events.findLast(({ type }) => type === 'tool/call')
    return [(call?.data as { card?: unknown } | undefined)?.card, data.card]
  }
  expect(await cards('read', { path: 'f', offset: 2, limit: 5 })).toEqual([
    { v: 1, kind: 'read', title: 'Read f', path: 'f', lines: '2-6' },
    { v: 1, kind: 'read', title: 'Read f', path: 'f', lines: '2-3 of 3' },
  ])
  expect(await cards('edit', { path: 'f', edits: [{ oldText: 'nope', newText: 'x' }] })).toEqual([
    { v: 1, kind: 'diff', title: 'Edit f', path: 'f', diff: '-nope\n+x' },
    { v: 1, kind: 'generic', title: 'edit: failed', text: expect.stringContaining('does not occur') },
  ])
  expect((await cards('write', { path: 'new', content: 'a\n' }))[0]).toEqual({
    v: 1,
    kind: 'diff',
    title: 'Write new',
    path: 'new',
    diff: '+a',
  })
  expect(await cards('list', { path: '.' })).toEqual([
    { v: 1, kind: 'generic', title: 'List .' },
    { v: 1, kind: 'generic', title: 'List . (2 entries)' },
  ])
})

test('reads of one file may overlap, a change of it may not', async () => {
  const { ctx, session } = await setup()
  const { fs } = ctx
  const keys = (tool: { overlap?: unknown }, path: string) =>
    (tool.overlap as (args: { path: string }, of: typeof session) => unknown)({ path }, session)
  expect(keys(toolFs.readTool(fs), 'a/../f')).toEqual({ reads: ['/proj/f'] })
  expect(keys(toolFs.editTool(fs), './f')).toEqual({ writes: ['/proj/f'] })
  expect(keys(toolFs.writeTool(fs), '/proj/f')).toEqual({ writes: ['/proj/f'] })
})

test('what the model is told about the tools is pinned', async () => {
  const { ctx } = await setup()
  const tools = ctx.tools.visible()
  expect(tools.map(({ name, description, parameters }) => ({ name, description, parameters }))).toMatchSnapshot()
  expect(tools.map(({ name, aliases, annotations }) => [name, aliases, annotations.readOnly])).toEqual([
    ['edit', ['Edit', 'MultiEdit'], false],
    ['list', ['LS'], true],
    ['read', ['Read'], true],
    ['write', ['Write'], false],
  ])
  expect(remedies).toMatchSnapshot()
})

test('unloading the tools leaves nothing behind', async () => {
  const { ctx, fiber } = await setup()
  expect(ctx.tools.visible().map(({ name }) => name)).toEqual(['edit', 'list', 'read', 'write'])
  await fiber.dispose()
  expect(ctx.tools.visible()).toEqual([])
})
