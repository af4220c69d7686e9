import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LINE_CHARS_MAX, RECORD_BYTES_MAX, Records } from '@sluice/tool-search'
import { afterEach, expect, test } from 'vitest'
import { Names } from '../src/names.ts'
import { type Bench, type Files, makeBench } from './bench.ts'

let bench: Bench | undefined
afterEach(async () => {
  await bench?.close()
  bench = undefined
})
const open = async (files: Files) => {
  bench = await makeBench(files)
  return bench
}

test('lines are found with their numbers, files newest first', async () => {
  const { grep, session } = await open({
    'old.txt': 'one\ntwo match\nthree\n',
    'src/new.txt': 'match a\n\nno\r\nmatch b\r\n',
    'other.md': 'nothing',
  })
  const { text, value, settled } = await grep('match')
  expect(text).toBe('src/new.txt\n  1: match a\n  4: match b\nold.txt\n  2: two match')
  expect(value).toMatchObject({ hits: 3, more: 0, withheld: 0 })
  const call = session.events.find((event) => event.type === 'tool/call')
  expect(call?.data).toMatchObject({ readOnly: true, card: { v: 1, kind: 'search', title: 'Grep', query: 'match' } })
  expect(settled.data.card).toEqual({ v: 1, kind: 'search', title: 'Grep', query: 'match', hits: 3, text })
  expect((await grep('absent')).text).toBe('No matches found.')
})

test('files and counts can be asked for instead of lines', async () => {
  const { grep } = await open({ 'a.txt': 'x x\nx\n', 'b.txt': 'x' })
  expect((await grep({ pattern: 'x', output: 'files' })).text).toBe('b.txt\na.txt')
  expect((await grep({ pattern: 'x', output: 'count' })).text).toBe('b.txt: 1\na.txt: 3')
})

test('matches of one file are counted too, and of one whose name holds line ends', async () => {
  const { grep } = await open({ 'a.txt': 'x x\nx\n', 'odd\nname\n7': 'x' })
  expect((await grep({ pattern: 'x', path: 'a.txt', output: 'count' })).text).toBe('a.txt: 3')
  const { value } = await grep({ pattern: 'x', output: 'count' })
  expect(value.files).toEqual([
    { path: 'odd\nname\n7', count: 1 },
    { path: 'a.txt', count: 3 },
  ])
})

test('when more files match than may be shown, the newest are shown and it is said', async () => {
  const { grep } = await open(Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`f${i}`, 'x'])))
  for (const output of ['content', 'files', 'count']) {
    const { text, value } = await grep({ pattern: 'x', output })
    expect(value.files.map(({ path }) => path)).toEqual(Array.from({ length: 100 }, (_, i) => `f${129 - i}`))
    expect(text).toMatch(/\n\[there are more (matches|files); narrow the search to see them\]$/)
  }
})

test('names come whole however the output is cut, and those that are no text are counted', () => {
  const output = Buffer.concat([Buffer.from('a\0ä/b\0'), Buffer.from([0xff, 0]), Buffer.from('long name\0')])
  for (let size = 1; size <= output.length; size++) {
    const seen: string[] = []
    let odd = 0
    const names = new Names((found, unnameable) => {
      seen.push(...found)
      odd += unnameable
      return true
    })
    for (let at = 0; at < output.length; at += size) names.push(output.subarray(at, at + size))
    expect([seen, odd]).toEqual([['a', 'ä/b', 'long name'], 1])
  }
})

test('where more lines match than are held at once, those of the newest files are shown', async () => {
  const files = Array.from({ length: 20 }, (_, i) => [`f${i}`, `x of ${i}\n`.repeat(i === 19 ? 3 : 500)])
  const { grep } = await open(Object.fromEntries(files))
  const { value } = await grep({ pattern: 'x', limit: 505 })
  expect(value.files.map(({ path, lines }) => [path, lines?.length, lines?.[0]?.text])).toEqual([
    ['f19', 3, 'x of 19'],
    ['f18', 500, 'x of 18'],
    ['f17', 2, 'x of 17'],
  ])
  expect(value).toMatchObject({ hits: 505, more: true })
})

// files.md 9
test('a search in a FIFO is refused at once', async () => {
  const { grep, world, cwd } = await open({ 'a.txt': 'x' })
  const env = { PATH: '/usr/bin:/bin' }
  await (await world.processes.spawn({ file: 'mkfifo', args: ['pipe'], cwd, env })).exited
  expect((await grep({ pattern: 'x', path: 'pipe' })).outcome).toMatchObject({ tag: 'failed', code: 'FS_NOT_A_FILE' })
  expect((await grep('x')).value.files).toMatchObject([{ path: 'a.txt' }])
})

test('lines around a match can be shown', async () => {
  const { grep } = await open({ 'a.txt': '1\n2\n3 x\n4\n5\n6\n7\n8 x\n9\n' })
  expect((await grep({ pattern: 'x', context: 1 })).text).toBe(
    'a.txt\n  2- 2\n  3: 3 x\n  4- 4\n  --\n  7- 7\n  8: 8 x\n  9- 9',
  )
})

// BUG-057
test.each([
  ['-z', 'a -z b'],
  ['--files', 'a --files b'],
  ['-e', 'a -e b'],
])('a pattern that starts with a dash (%s) is a pattern', async (pattern, line) => {
  const { grep } = await open({ 'a.txt': `${line}\nother\n`, '--files': 'nothing' })
  expect((await grep(pattern)).text).toBe(`a.txt\n  1: ${line}`)
})

test('plain text, letter case and several lines can be asked for', async () => {
  const { grep } = await open({ 'a.txt': 'f(x)\nF(X)\nend\n' })
  expect((await grep({ pattern: 'f(x)', literal: true })).value.hits).toBe(1)
  expect((await grep({ pattern: 'f(x)', literal: true, ignoreCase: true })).value.hits).toBe(2)
  expect((await grep({ pattern: 'F.*end', multiline: true })).text).toBe('a.txt\n  2: F(X)\n  3: end')
})

test('files can be picked by name at any depth, or by path, and ignored ones stay ignored', async () => {
  const { grep } = await open({
    '.gitignore': 'out\n',
    'out/c.ts': 'x',
    'b.md': 'x',
    'src/deep/a.ts': 'x',
    'src/a.tsx': 'x',
    'a.ts': 'x',
  })
  const files = async (glob: string, includeIgnored = false) => {
    const { value } = await grep({ pattern: 'x', glob, output: 'files', includeIgnored })
    return value.files.map((file) => file.path)
  }
  expect(await files('*.ts')).toEqual(['a.ts', 'src/deep/a.ts'])
  expect(await files('*.{ts,tsx}')).toEqual(['a.ts', 'src/a.tsx', 'src/deep/a.ts'])
  expect(await files('src/**/*.ts')).toEqual(['src/deep/a.ts'])
  expect(await files('/src/*')).toEqual(['src/a.tsx'])
  expect(await files('**/*.ts', true)).toEqual(['a.ts', 'src/deep/a.ts', 'out/c.ts'])
})

test('a broken pattern is told with its place', async () => {
  const { grep } = await open({ 'a.txt': 'x' })
  const { outcome, text } = await grep('a(b')
  expect(outcome).toMatchObject({ tag: 'failed', code: 'SEARCH_PATTERN_INVALID' })
  expect(text).toContain('unclosed group')
  expect(text).toContain('Use literal: true')
})

test('binary files give nothing, and odd bytes in text are replaced', async () => {
  const late = Buffer.concat([
    Buffer.from('key first\n'),
    Buffer.alloc(200_000, 'x\n'),
    Buffer.from([0, 1, 2]),
    Buffer.from('key'),
  ])
  const { grep } = await open({
    'binary.dat': Buffer.from('key\0\x01\x02\n'),
    'late.dat': late,
    'latin.txt': Buffer.from([0x6b, 0x65, 0x79, 0x20, 0xe9, 0x0a]),
  })
  expect((await grep('key')).text).toBe('latin.txt\n  1: key \ufffd')
  expect((await grep({ pattern: 'key', path: 'binary.dat' })).text).toBe('No matches found.')
})

test('many matches are cut and it is said', async () => {
  const { grep } = await open({ 'a.txt': 'x\n'.repeat(500), 'b.txt': 'x\n'.repeat(3) })
  const { value, text } = await grep({ pattern: 'x', limit: 10 })
  expect(value.files.map((file) => [file.path, file.lines?.length])).toEqual([
    ['b.txt', 3],
    ['a.txt', 7],
  ])
  expect(value).toMatchObject({ hits: 10, more: true })
  expect(text).toMatch(/\n\[there are more matches; narrow the search to see them\]$/)
  expect((await grep({ pattern: 'x', limit: 3 })).value).toMatchObject({ hits: 3, more: true })
  expect((await grep({ pattern: 'x', path: 'a.txt', limit: 10 })).value).toMatchObject({ hits: 10, more: true })
  expect((await grep({ pattern: 'x', limit: 503 })).value).toMatchObject({ hits: 503, more: 0 })
  expect((await grep({ pattern: 'x', output: 'files', limit: 1 })).value).toMatchObject({ hits: 1, more: true })
})

// BUG-055
test('a match in a huge line comes as a bounded excerpt around it', async () => {
  const { grep } = await open({ 'a.js': `${'é'.repeat(1_000_000)}needle${'z'.repeat(2_000_000)}\n` })
  const { value, text } = await grep('needle')
  const [line] = value.files[0]?.lines ?? []
  expect(line?.text).toMatch(/^…é{100}needlez+…$/)
  expect(line?.text).toHaveLength(LINE_CHARS_MAX + 2)
  expect(text.length).toBeLessThan(1_000)
})

test('a line too long to be held costs no other match, and its file is named', async () => {
  const { grep, cwd } = await open({ 'small.txt': 'needle' })
  const file = await openFile(join(cwd, 'huge.txt'), 'w')
  await file.write('needle')
  await file.write(Buffer.alloc(RECORD_BYTES_MAX + 1, 'x'))
  await file.close()
  const { value, text } = await grep('needle')
  expect(value).toMatchObject({ more: 0, hits: 1 })
  expect(text).toBe('huge.txt\n  [lines that match are too long to be shown]\nsmall.txt\n  1: needle')
})

test('an abort ends the search', async () => {
  const { grep } = await open({ 'a.txt': 'x' })
  expect((await grep('x', AbortSignal.abort(new Error('stop')))).outcome).toMatchObject({ tag: 'aborted' })
})

test.each([
  ['an empty pattern', { pattern: '' }],
  ['a zero byte', { pattern: 'a\u0000' }],
  ['a limit beyond the bound', { pattern: 'a', limit: 1001 }],
  ['an unknown output', { pattern: 'a', output: 'all' }],
])('%s is refused before anything is searched', async (_, args) => {
  const { grep } = await open({})
  expect((await grep(args)).outcome).toMatchObject({ tag: 'invalid', executed: 'no' })
})

test('records are cut at their separator, wherever the pieces end', () => {
  const seen: string[] = []
  const records = new Records(0, (record) => seen.push(Buffer.from(record ?? []).toString()) < 4)
  for (const piece of ['a', 'b\0c\0', '', 'de', 'f\0', 'g\0h\0'])
    expect(records.push(Buffer.from(piece))).toBe(piece !== 'g\0h\0')
  expect(seen).toEqual(['ab', 'c', 'def', 'g'])
})

test('a record that is too long is left out, those beside it are not', () => {
  const lengths: (number | undefined)[] = []
  const records = new Records(0, (record) => lengths.push(record?.length) > 0)
  const full = new Uint8Array(RECORD_BYTES_MAX).fill(1)
  for (const piece of [
    Uint8Array.of(1, 0),
    full,
    Uint8Array.of(0),
    full,
    Uint8Array.of(1),
    full,
    Uint8Array.of(0, 1, 0),
  ])
    records.push(piece)
  expect(lengths).toEqual([1, RECORD_BYTES_MAX, undefined, 1])
})

// BUG-042
test('a byte-order mark does not hide the start of the first line', async () => {
  const { grep } = await open({ 'a.txt': '\uFEFFfirst\nsecond\n' })
  expect((await grep('^first')).text).toBe('a.txt\n  1: first')
})
