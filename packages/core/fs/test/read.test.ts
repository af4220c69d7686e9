import { expect, test } from 'vitest'
import { CHANGE_BYTES_MAX, LINE_CHARACTERS_MAX, TEXT_BYTES_MAX } from '../src/index.ts'
import { readOpened } from '../src/read.ts'
import { setup } from './setup.ts'

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 1]),
  Buffer.from('IDAT'),
  Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.from('IEND'),
  Buffer.from([0, 0, 0, 0]),
])

test('a window of lines says where it ends and how to go on', async () => {
  const text = Array.from({ length: 10 }, (_, i) => `line ${i + 1}\n`).join('')
  const { ctx, call } = await setup({ files: { '/proj/f': text } })
  const middle = await ctx.fs.read('f', { offset: 3, limit: 2 }, call())
  expect(middle).toMatchObject({ lines: ['line 3', 'line 4'], range: { from: 3, to: 4 }, linesTotal: 10 })
  expect(middle.cuts).toEqual(['There is more: the file has 10 lines. Continue with offset 5.'])
  const end = await ctx.fs.read('f', { offset: 9, limit: 5 }, call())
  expect(end).toMatchObject({ lines: ['line 9', 'line 10'], cuts: [] })
  const beyond = await ctx.fs.read('f', { offset: 11 }, call())
  expect(beyond).toMatchObject({ lines: [], cuts: ['The file has 10 lines; there is no line 11.'] })
})

test('line ends are not part of the lines, and a last line needs none', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': 'a\r\nb\n\nc', '/proj/empty': '' } })
  expect(await ctx.fs.read('f', {}, call())).toMatchObject({ lines: ['a', 'b', '', 'c'], linesTotal: 4, cuts: [] })
  expect(await ctx.fs.read('empty', {}, call())).toMatchObject({
    lines: [],
    linesTotal: 0,
    cuts: ['The file is empty.'],
  })
})

// BUG-055
test('one huge line is cut on a character and says how long it is', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': '\u{1F600}'.repeat(750_000) } })
  const { lines, cuts } = await ctx.fs.read('f', { limit: 1 }, call())
  expect(lines[0]).toBe('\u{1F600}'.repeat(LINE_CHARACTERS_MAX / 2))
  expect(cuts).toEqual([
    `Line 1 is cut after ${LINE_CHARACTERS_MAX} characters; it has 3000000 bytes. Search in it to see more.`,
  ])
})

// BUG-055
test('many lines stop at the bound of bytes', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': `${'x'.repeat(999)}\n`.repeat(500) } })
  const { lines, cuts } = await ctx.fs.read('f', {}, call())
  expect(lines.length).toBe(Math.floor(TEXT_BYTES_MAX / 1000))
  expect(cuts).toEqual([`There is more: the file has 500 lines. Continue with offset ${lines.length + 1}.`])
})

test('a large file is read only as far as the window goes, and can be changed once its end was read', async () => {
  const { ctx, call, session } = await setup({ files: { '/proj/f': `first\n${'x'.repeat(99)}\n`.repeat(200_000) } })
  const result = await ctx.fs.read('f', { limit: 1 }, call())
  expect(result).toMatchObject({ lines: ['first'], version: undefined, linesTotal: undefined })
  expect(result.cuts).toEqual([
    'There is more. Continue with offset 2.',
    'The file is larger than 16777216 bytes and was not read to its end. It can be changed after its last lines were read.',
  ])
  expect(session.events.filter(({ type }) => type === 'fs/observed')).toEqual([])
  const end = await ctx.fs.read('f', { offset: 400_000 }, call())
  expect(end).toMatchObject({ lines: ['x'.repeat(99)], linesTotal: 400_000, cuts: [] })
  expect(end.version?.size).toBe(21_200_000)
})

test('a file too large to be changed has no version, however far it is read', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': 'x\n'.repeat(CHANGE_BYTES_MAX / 2 + 1) } })
  const result = await ctx.fs.read('f', { offset: 100_000_000 }, call())
  expect(result).toMatchObject({ version: undefined, linesTotal: CHANGE_BYTES_MAX / 2 + 1 })
  expect(result.cuts.at(-1)).toBe('The file is larger than 67108864 bytes: it can be read in parts, but not changed.')
})

// BUG-055
test('text that is followed by nothing but NULs is shown, binary content is not', async () => {
  const padded = Buffer.concat([Buffer.from('first\nsecond\n'), Buffer.alloc(500_000)])
  const files = { '/proj/padded': padded, '/proj/late': Buffer.concat([padded, Buffer.from('x')]), '/proj/nul': '\0' }
  const { ctx, call } = await setup({ files: { ...files, '/proj/mixed': 'a\0b' } })
  expect(await ctx.fs.read('padded', { limit: 1 }, call())).toMatchObject({ kind: 'text', lines: ['first'] })
  const whole = await ctx.fs.read('padded', {}, call())
  expect(whole.lines).toEqual(['first', 'second', '\u2400'.repeat(2000)])
  expect(whole.cuts).toContain('NUL bytes are shown as \u2400. The file cannot be edited as text.')
  const edit = ctx.fs.edit('padded', [{ oldText: 'first', newText: '1st' }], call())
  await expect(edit).rejects.toMatchObject({ code: 'FS_NOT_UTF8' })
  for (const path of ['nul', 'mixed']) expect((await ctx.fs.read(path, {}, call())).kind).toBe('binary')
})

// BUG-042
test('a byte-order mark is not shown', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': '\uFEFFfirst\nsecond\n' } })
  expect(await ctx.fs.read('f', {}, call())).toMatchObject({ lines: ['first', 'second'], bom: true, encoding: 'utf-8' })
})

// BUG-043
test('another encoding is decoded, named, and said to be no text for edits', async () => {
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('abc\n\u00E9\n', 'utf16le')])
  const gbk = Buffer.from([0xb2, 0xe2, 0xca, 0xd4, 0x0a, 0x61, 0x62, 0x63, 0x0a])
  const { ctx, call } = await setup({ files: { '/proj/u': utf16, '/proj/g': gbk } })
  expect(await ctx.fs.read('u', {}, call())).toMatchObject({
    lines: ['abc', '\u00E9'],
    encoding: 'utf-16le',
    cuts: ['The file is not UTF-8. It was decoded as utf-16le and cannot be edited as text.'],
  })
  const guessed = await ctx.fs.read('g', {}, call())
  expect(guessed.encoding).not.toBe('utf-8')
  expect(guessed.lines[1]).toBe('abc')
  expect(guessed.cuts[0]).toContain('which is a guess, and cannot be edited as text')
})

test('damage in UTF-8 text is shown and said', async () => {
  const bytes = Buffer.concat([Buffer.from('gr\u00FC\u00DFe\n'), Buffer.from([0xff, 0x0a])])
  const { ctx, call } = await setup({ files: { '/proj/f': bytes } })
  const { lines, encoding, cuts } = await ctx.fs.read('f', {}, call())
  expect({ lines, encoding }).toEqual({ lines: ['gr\u00FC\u00DFe', '\uFFFD'], encoding: 'utf-8' })
  expect(cuts).toEqual([
    '1 bytes are not valid UTF-8 and are shown as \uFFFD; an edit elsewhere keeps them as they are.',
  ])
})

// BUG-054
test('what a picture is comes from its bytes, not from its name', async () => {
  const jpeg = Buffer.from('ffd8ffc0000b08000100010101110000ffd9', 'hex')
  const files = {
    '/proj/fake.png': '<svg/>',
    '/proj/a.png': jpeg,
    '/proj/b.png': '',
    '/proj/c.jpg': '%PDF-1.7\n...',
    '/proj/cut.png': png.subarray(0, 16),
    '/proj/real': png,
  }
  const { ctx, call } = await setup({ files })
  const kinds = await Promise.all(
    ['fake.png', 'a.png', 'b.png', 'c.jpg', 'cut.png', 'real'].map(async (path) => {
      const { kind, mediaType } = await ctx.fs.read(path, {}, call())
      return `${kind} ${mediaType}`
    }),
  )
  expect(kinds).toEqual([
    'text text/plain',
    'image image/jpeg',
    'text text/plain',
    'binary application/pdf',
    'binary image/png',
    'image image/png',
  ])
  expect((await ctx.fs.read('real', {}, call())).bytes).toEqual(png)
})

test('binary content is not shown and its size is said', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': new Uint8Array([1, 2, 0, 3]) } })
  const { kind, lines, cuts } = await ctx.fs.read('f', {}, call())
  expect({ kind, lines }).toEqual({ kind: 'binary', lines: [] })
  expect(cuts).toEqual(['Binary content (application/octet-stream, 4 bytes) is not shown.'])
})

test('directories, FIFOs, sockets and devices are refused at once', async () => {
  const files = {
    '/proj/d': null,
    '/proj/p': { kind: 'fifo' },
    '/proj/s': { kind: 'socket' },
    '/proj/z': { kind: 'device' },
  } as const
  const { ctx, call } = await setup({ files })
  for (const [path, kind] of Object.entries({ d: 'directory', p: 'fifo', s: 'socket', z: 'device' })) {
    await expect(ctx.fs.read(path, {}, call())).rejects.toMatchObject({ code: 'FS_NOT_A_FILE', data: { kind } })
    await expect(ctx.fs.write(path, 'x', call())).rejects.toMatchObject({ code: 'FS_NOT_A_FILE' })
  }
})

test('what is not there is not found, and what may not be read is said to be so', async () => {
  const { ctx, call } = await setup({ files: { '/proj/f': { content: 'x', mode: 0o000 } } })
  await expect(ctx.fs.read('nothing', {}, call())).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
  await expect(ctx.fs.read('f', {}, call())).rejects.toMatchObject({ code: 'FS_ACCESS' })
})

test('a list is sorted, tells kinds and sizes, and refuses what is no directory', async () => {
  const files = {
    '/proj/d/b.txt': '12',
    '/proj/d/a': null,
    '/proj/d/l': { link: 'b.txt' },
    '/proj/d/p': { kind: 'fifo' },
  } as const
  const { ctx, call } = await setup({ files })
  expect((await ctx.fs.list('d', call())).entries).toEqual([
    { name: 'a', kind: 'directory' },
    { name: 'b.txt', kind: 'file', size: 2 },
    { name: 'l', kind: 'symlink' },
    { name: 'p', kind: 'other' },
  ])
  await expect(ctx.fs.list('d/b.txt', call())).rejects.toMatchObject({ code: 'FS_NOT_A_DIRECTORY' })
  await expect(ctx.fs.list('nothing', call())).rejects.toMatchObject({ code: 'FS_NOT_FOUND' })
})

test('a file that grows faster than it is read comes to an end', async () => {
  const { ctx, world, session } = await setup({ files: { '/proj/log': 'one\ntwo\n' } })
  const target = await ctx.fs.resolve('log', session)
  const file = await world.disk.open('/proj/log', { read: true })
  const stat = await file.stat()
  let reads = 0
  const growing = Object.create(file) as typeof file
  growing.read = async (into) => {
    if (++reads > 20) throw new Error('there is no end')
    Buffer.from(into.buffer, into.byteOffset, into.length).fill('more\n')
    return into.length
  }
  const { result } = await readOpened({ target, file: growing, stat }, { offset: 1_000_000 })
  expect(result.version?.size).toBeLessThanOrEqual(4096)
  await file.close()
})
