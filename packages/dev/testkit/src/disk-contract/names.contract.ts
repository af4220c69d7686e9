/** Owns the cases about links and paths. */
import assert from 'node:assert/strict'
import { put, refuses, textOf, type DiskCase } from './subject.ts'

export const namingCases: readonly DiskCase[] = [
  {
    title: 'stat looks at the target of a link, lstat and readlink at the link',
    async run({ disk, root }) {
      await put(disk, `${root}/file`, 'text')
      await disk.symlink('./file', `${root}/link`)
      assert.equal((await disk.stat(`${root}/link`)).size, 4)
      assert.equal((await disk.lstat(`${root}/link`)).kind, 'symlink')
      assert.equal(await disk.readlink(`${root}/link`), './file')
      await refuses(disk.readlink(`${root}/file`), 'EINVAL')
    },
  },
  {
    title: 'many files tell their times at once, links their own, and what is not there none',
    async run({ disk, root }) {
      const paths = Array.from({ length: 70 }, (_, i) => `${root}/f${i}`)
      for (const path of paths) await put(disk, path)
      await disk.symlink('none', `${root}/link`)
      paths.push(`${root}/link`)
      const times = await disk.mtimes([...paths, `${root}/none`, `${root}/f0/below`])
      const stats = await Promise.all(paths.map((path) => disk.lstat(path)))
      for (const [at, { mtimeMs }] of stats.entries()) assert.ok(Math.abs((times[at] ?? 0) - mtimeMs) < 1)
      assert.deepEqual(times.slice(paths.length), [undefined, undefined])
    },
  },
  {
    title: 'realpath resolves links, dots and double slashes, and needs the file',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/a/b`, { recursive: true })
      await disk.symlink('a/b', `${root}/link`)
      await put(disk, `${root}/a/file`)
      // `..` after a link leads to the parent of its target.
      assert.equal(await disk.realpath(`${root}//./link/../file`), `${root}/a/file`)
      await refuses(disk.realpath(`${root}/link/none`), 'ENOENT')
    },
  },
  {
    title: 'hard links are one file with a count',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'one')
      await disk.link(`${root}/a`, `${root}/b`)
      await put(disk, `${root}/b`, 'two')
      assert.equal(await textOf(disk, `${root}/a`), 'two')
      const [a, b] = [await disk.stat(`${root}/a`), await disk.stat(`${root}/b`)]
      assert.deepEqual([a.ino, a.dev, a.links], [b.ino, b.dev, 2])
      await disk.unlink(`${root}/b`)
      assert.equal((await disk.stat(`${root}/a`)).links, 1)
    },
  },
  {
    title: 'a hard link never replaces a name, and folders cannot have one',
    async run({ disk, root }) {
      await put(disk, `${root}/a`)
      await put(disk, `${root}/b`)
      await disk.mkdir(`${root}/dir`)
      await refuses(disk.link(`${root}/a`, `${root}/b`), 'EEXIST')
      await refuses(disk.link(`${root}/dir`, `${root}/c`), 'EPERM')
      await refuses(disk.link(`${root}/none`, `${root}/c`), 'ENOENT')
    },
  },
  {
    title: 'a symlink never replaces a name',
    async run({ disk, root }) {
      await put(disk, `${root}/a`)
      await refuses(disk.symlink('x', `${root}/a`), 'EEXIST')
    },
  },
  {
    title: 'unlink removes the link and not its target, and no folder',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'kept')
      await disk.symlink('a', `${root}/link`)
      await disk.unlink(`${root}/link`)
      assert.equal(await textOf(disk, `${root}/a`), 'kept')
      await disk.mkdir(`${root}/dir`)
      // The second is what macOS says.
      await refuses(disk.unlink(`${root}/dir`), 'EISDIR', 'EPERM')
      await refuses(disk.unlink(`${root}/none`), 'ENOENT')
    },
  },
]
