/** Owns the cases about folders and renaming. */
import assert from 'node:assert/strict'
import { namesIn, put, refuses, textOf, type DiskCase } from './subject.ts'

export const foldersCases: readonly DiskCase[] = [
  {
    title: 'readdir lists each name with its kind',
    async run({ disk, root }) {
      await put(disk, `${root}/file`)
      await disk.mkdir(`${root}/dir`)
      await disk.symlink('dir', `${root}/link`)
      const entries = (await disk.readdir(root)).map(({ name, kind }) => `${name}: ${kind}`)
      assert.deepEqual(entries.sort(), ['dir: directory', 'file: file', 'link: symlink'])
      await refuses(disk.readdir(`${root}/file`), 'ENOTDIR')
      await refuses(disk.readdir(`${root}/none`), 'ENOENT')
    },
  },
  {
    title: 'mkdir makes one folder, or with recursive all that are missing',
    async run({ disk, root, umask }) {
      await refuses(disk.mkdir(`${root}/a/b`), 'ENOENT')
      await disk.mkdir(`${root}/a/b/c`, { recursive: true, mode: 0o750 })
      assert.equal((await disk.stat(`${root}/a/b`)).mode, 0o750 & ~umask)
      await refuses(disk.mkdir(`${root}/a`), 'EEXIST')
      await disk.mkdir(`${root}/a/b`, { recursive: true })
      await put(disk, `${root}/file`)
      await refuses(disk.mkdir(`${root}/file`, { recursive: true }), 'EEXIST')
      await refuses(disk.mkdir(`${root}/file/b`, { recursive: true }), 'ENOTDIR')
    },
  },
  {
    title: 'rmdir removes an empty folder only',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/a`)
      await put(disk, `${root}/a/file`)
      await refuses(disk.rmdir(`${root}/a`), 'ENOTEMPTY')
      await refuses(disk.rmdir(`${root}/a/file`), 'ENOTDIR')
      await disk.unlink(`${root}/a/file`)
      await disk.rmdir(`${root}/a`)
      assert.deepEqual(await namesIn(disk, root), [])
    },
  },
  {
    title: 'rename replaces a file at once and keeps the identity of the source',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'new')
      await put(disk, `${root}/b`, 'old')
      const { ino } = await disk.stat(`${root}/a`)
      await disk.rename(`${root}/a`, `${root}/b`)
      assert.equal((await disk.stat(`${root}/b`)).ino, ino)
      assert.deepEqual(await namesIn(disk, root), ['b'])
      await refuses(disk.rename(`${root}/a`, `${root}/c`), 'ENOENT')
    },
  },
  {
    title: 'rename moves folders with what is in them, over nothing or an empty folder',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/a/sub`, { recursive: true })
      await disk.mkdir(`${root}/empty`)
      await put(disk, `${root}/a/file`, 'x')
      await disk.rename(`${root}/a`, `${root}/empty`)
      assert.equal(await textOf(disk, `${root}/empty/file`), 'x')
      await disk.mkdir(`${root}/b`)
      await refuses(disk.rename(`${root}/b`, `${root}/empty`), 'ENOTEMPTY', 'EEXIST')
      await refuses(disk.rename(`${root}/empty`, `${root}/empty/sub/deeper`), 'EINVAL')
      await refuses(disk.rename(`${root}/b`, `${root}/empty/file`), 'ENOTDIR')
      await refuses(disk.rename(`${root}/empty/file`, `${root}/b`), 'EISDIR')
    },
  },
  {
    title: 'rename moves a link itself, and does nothing between two names of one file',
    async run({ disk, root }) {
      await put(disk, `${root}/a`)
      await disk.symlink('a', `${root}/link`)
      await disk.rename(`${root}/link`, `${root}/moved`)
      assert.equal(await disk.readlink(`${root}/moved`), 'a')
      await disk.link(`${root}/a`, `${root}/b`)
      await disk.rename(`${root}/a`, `${root}/b`)
      assert.deepEqual(await namesIn(disk, root), ['a', 'b', 'moved'])
    },
  },
  {
    title: 'syncDir takes a folder',
    async run({ disk, root }) {
      await put(disk, `${root}/a`)
      await disk.syncDir(root)
      await refuses(disk.syncDir(`${root}/a`), 'ENOTDIR')
      await refuses(disk.syncDir(`${root}/none`), 'ENOENT')
    },
  },
]
