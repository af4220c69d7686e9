/** Owns the cases that every provider of `ctx.fs` must pass, on any disk. */
import assert from 'node:assert/strict'
import { type Disk, isSluiceError } from '@sluice/base'
import type { Fs, FsContext } from './types.ts'

/** Made fresh for each case: an empty folder that is the working folder of the session. */
export interface FsSubject {
  readonly fs: Fs
  readonly disk: Disk
  readonly root: string
  /** The context of a new call. */
  readonly call: () => FsContext
}

export interface FsCase {
  readonly title: string
  run(subject: FsSubject): Promise<void>
}

const utf8 = (text: string) => Buffer.from(text, 'utf8')

async function put(
  { disk, root }: FsSubject,
  name: string,
  content: string | Uint8Array,
  mode = 0o644,
): Promise<string> {
  const path = `${root}/${name}`
  const file = await disk.open(path, { write: true, create: true, truncate: true })
  await file.write(typeof content === 'string' ? utf8(content) : content, 0)
  await file.chmod(mode)
  await file.close()
  return path
}

async function get({ disk, root }: FsSubject, name: string): Promise<Buffer> {
  const file = await disk.open(`${root}/${name}`, { read: true })
  const into = Buffer.alloc(1 << 16)
  const count = await file.read(into, 0)
  await file.close()
  return into.subarray(0, count)
}

async function names({ disk, root }: FsSubject): Promise<string[]> {
  return (await disk.readdir(root)).map(({ name }) => name).sort()
}

async function fails(code: string, work: Promise<unknown>): Promise<void> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(isSluiceError(error, code), `${code} expected, got ${isSluiceError(error) ? error.code : String(error)}`)
}

export const fsContract: readonly FsCase[] = [
  {
    title: 'a write creates folders and file, and reads back as written',
    async run(subject) {
      const { fs, call } = subject
      const { before, after } = await fs.write('a/b/f.txt', 'one\ntwo\n', call())
      assert.equal(before, undefined)
      const { lines, version } = await fs.read('a/b/f.txt', {}, call())
      assert.deepEqual(lines, ['one', 'two'])
      assert.deepEqual(version, after)
    },
  },
  {
    title: 'an edit keeps byte-order mark, line ends, invalid bytes and mode',
    async run(subject) {
      const parts = ['\uFEFFgr\u00FC\u00DFe\r\nold\r\n', Buffer.from([0xff]), '\nlast']
      const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? utf8(part) : part)))
      const path = await put(subject, 'f', bytes, 0o750)
      await subject.fs.edit('f', [{ oldText: 'old\n', newText: 'new\nmore\n' }], subject.call())
      const expected = utf8('\uFEFFgr\u00FC\u00DFe\r\nnew\r\nmore\r\n')
      assert.deepEqual(await get(subject, 'f'), Buffer.concat([expected, Buffer.from([0xff]), utf8('\nlast')]))
      assert.equal((await subject.disk.stat(path)).mode, 0o750)
      assert.deepEqual(await names(subject), ['f'])
    },
  },
  {
    title: 'an edit that fails leaves bytes and times as they were',
    async run(subject) {
      const path = await put(subject, 'f', 'aaaa\n')
      const before = await subject.disk.stat(path)
      const edit = (oldText: string, newText: string) => subject.fs.edit('f', [{ oldText, newText }], subject.call())
      await fails('FS_NO_MATCH', edit('b', 'c'))
      await fails('FS_AMBIGUOUS', edit('aa', 'c'))
      await fails('FS_NO_CHANGE', edit('aaaa', 'aaaa'))
      assert.deepEqual(await subject.disk.stat(path), before)
    },
  },
  {
    title: 'every name of a file is one target',
    async run(subject) {
      const { fs, disk, root, call } = subject
      await put(subject, 'f', 'x\n')
      await disk.symlink('f', `${root}/l`)
      await disk.mkdir(`${root}/d`)
      const { session } = call()
      const targets = await Promise.all(['f', 'l', 'd/../f', `${root}/./l`].map((path) => fs.resolve(path, session)))
      assert.equal(new Set(targets.map(({ key }) => key)).size, 1)
      assert.deepEqual(new Set(targets.map(({ path }) => path)), new Set([`${root}/f`]))
    },
  },
  {
    title: 'a link is written through, also when it dangles',
    async run(subject) {
      const { fs, disk, root, call } = subject
      await disk.symlink('target', `${root}/l`)
      await fs.write('l', 'through\n', call())
      assert.equal((await disk.lstat(`${root}/l`)).kind, 'symlink')
      assert.deepEqual(await get(subject, 'target'), utf8('through\n'))
    },
  },
  {
    title: 'a hard-linked file is refused unless told to break the link',
    async run(subject) {
      const { fs, disk, root, call } = subject
      const path = await put(subject, 'f', 'old\n')
      await disk.link(path, `${root}/g`)
      await fails('FS_HARD_LINKED', fs.write('f', 'new\n', call()))
      await fs.write('f', 'new\n', { ...call(), breakHardLink: true })
      assert.deepEqual([await get(subject, 'f'), await get(subject, 'g')], [utf8('new\n'), utf8('old\n')])
    },
  },
  {
    title: 'a read-only file is refused and stays',
    async run(subject) {
      await put(subject, 'f', 'old\n', 0o444)
      await fails('FS_READ_ONLY', subject.fs.write('f', 'new\n', subject.call()))
      assert.deepEqual(await get(subject, 'f'), utf8('old\n'))
      assert.deepEqual(await names(subject), ['f'])
    },
  },
  {
    title: 'undo restores the bytes, removes what was created, and refuses what is not its own any more',
    async run(subject) {
      const { fs, call } = subject
      await put(subject, 'f', Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0d, 0x0a]), 0o755)
      const first = call()
      await fs.write('f', 'b\n', first)
      await fs.write('new', 'x\n', first)
      await fs.undo(first.call.id, call())
      assert.deepEqual(await get(subject, 'f'), Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0x0d, 0x0a]))
      assert.deepEqual(await names(subject), ['f'])
      const second = call()
      await fs.write('f', 'c\n', second)
      await put(subject, 'f', 'theirs\n')
      await fails('FS_STALE', fs.undo(second.call.id, call()))
      await fails('FS_NOTHING_TO_UNDO', fs.undo('no such call', call()))
    },
  },
  {
    title: 'a folder is listed, not read or written',
    async run(subject) {
      const { fs, disk, root, call } = subject
      await disk.mkdir(`${root}/d`)
      await put(subject, 'd/f', '12')
      assert.deepEqual((await fs.list('d', call())).entries, [{ name: 'f', kind: 'file', size: 2 }])
      await fails('FS_NOT_A_FILE', fs.read('d', {}, call()))
      await fails('FS_NOT_A_FILE', fs.write('d', 'x', call()))
      await fails('FS_NOT_A_DIRECTORY', fs.list('d/f', call()))
      await fails('FS_NOT_A_DIRECTORY', fs.write('d/f/g', 'x', call()))
    },
  },
  {
    title: 'what is not UTF-8 is named on reading and refused for editing',
    async run(subject) {
      const { fs, call } = subject
      const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('abc\n', 'utf16le')])
      await put(subject, 'f', utf16)
      const { encoding, lines } = await fs.read('f', {}, call())
      assert.deepEqual([encoding, lines], ['utf-16le', ['abc']])
      await fails('FS_NOT_UTF8', fs.edit('f', [{ oldText: 'a', newText: 'b' }], call()))
      assert.deepEqual(await get(subject, 'f'), utf16)
    },
  },
  {
    title: 'odd names are taken literally',
    async run(subject) {
      const { fs, call } = subject
      for (const name of [
        '[id]',
        '(a)',
        '{b}',
        'w*eird',
        '-z',
        'a b',
        'q\'uo"te',
        '$(x)',
        '\u00E9',
        'new\nline',
        '__proto__',
      ]) {
        await fs.write(`o/${name}`, `${name}\n`, call())
        assert.deepEqual((await fs.read(`o/${name}`, { limit: 1 }, call())).lines, [name.split('\n')[0]])
      }
    },
  },
  {
    title: 'a refused check leaves everything as it is, and is gone when taken away',
    async run(subject) {
      const { fs, call } = subject
      await put(subject, 'f', 'old\n')
      const allow = fs.restrict('none', () => ({ code: 'TEST_NONE', reason: 'nothing is allowed' }))
      await fails('FS_REFUSED', fs.read('f', {}, call()))
      await fails('FS_REFUSED', fs.write('f', 'new\n', call()))
      await fails('FS_REFUSED', fs.write('d/g', 'new\n', call()))
      await fails('FS_REFUSED', fs.list('.', call()))
      allow()
      assert.deepEqual((await fs.read('f', {}, call())).lines, ['old'])
      assert.deepEqual(await names(subject), ['f'])
    },
  },
]
