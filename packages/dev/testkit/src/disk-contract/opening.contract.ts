/** Owns the cases about opening and creating files. */
import assert from 'node:assert/strict'
import { contentOf, fresh, put, refuses, textOf, using, type DiskCase } from './subject.ts'

export const openingCases: readonly DiskCase[] = [
  {
    title: 'a created file has the mode that was asked for, less the umask',
    async run({ disk, root, umask }) {
      await using(disk.open(`${root}/a`, { ...fresh, mode: 0o777 }), async (file) => {
        assert.equal((await file.stat()).mode, 0o777 & ~umask)
      })
    },
  },
  {
    title: 'a missing file, a missing folder and a path through a file are told apart',
    async run({ disk, root }) {
      await put(disk, `${root}/file`)
      await refuses(disk.open(`${root}/a`, { read: true }), 'ENOENT')
      await refuses(disk.open(`${root}/no/a`, fresh), 'ENOENT')
      await refuses(disk.open(`${root}/file/a`, fresh), 'ENOTDIR')
    },
  },
  {
    title: 'exclusive creation refuses whatever is there, a dangling link too',
    async run({ disk, root }) {
      await put(disk, `${root}/file`, 'kept')
      await disk.symlink('nowhere', `${root}/link`)
      await refuses(disk.open(`${root}/file`, fresh), 'EEXIST')
      await refuses(disk.open(`${root}/link`, fresh), 'EEXIST')
      assert.equal(await textOf(disk, `${root}/file`), 'kept')
    },
  },
  {
    title: 'creating through a dangling link creates its target',
    async run({ disk, root }) {
      await disk.symlink('target', `${root}/link`)
      await put(disk, `${root}/link`, 'x')
      assert.equal((await disk.lstat(`${root}/target`)).kind, 'file')
      assert.equal((await disk.lstat(`${root}/link`)).kind, 'symlink')
    },
  },
  {
    title: 'noFollow refuses a link at the end of a path and follows links before it',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/dir`)
      await put(disk, `${root}/dir/file`, 'x')
      await disk.symlink('dir', `${root}/to-dir`)
      await disk.symlink('dir/file', `${root}/to-file`)
      await refuses(disk.open(`${root}/to-file`, { read: true, noFollow: true }), 'ELOOP')
      await using(disk.open(`${root}/to-dir/file`, { read: true, noFollow: true }), async (file) => {
        assert.equal(await contentOf(file), 'x')
      })
    },
  },
  {
    title: 'a folder opens for reading only, and has no bytes',
    async run({ disk, root }) {
      await refuses(disk.open(root, { write: true }), 'EISDIR')
      await using(disk.open(root, { read: true }), async (file) => {
        assert.equal((await file.stat()).kind, 'directory')
        await refuses(file.read(new Uint8Array(1), 0), 'EISDIR')
      })
    },
  },
  {
    title: 'opening with truncate empties the file, and needs write',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'text')
      await refuses(disk.open(`${root}/a`, { read: true, truncate: true }), 'EINVAL')
      assert.equal(await textOf(disk, `${root}/a`), 'text')
      await using(disk.open(`${root}/a`, { write: true, truncate: true }), async (file) => {
        assert.equal((await file.stat()).size, 0)
      })
    },
  },
  {
    title: 'impossible paths are refused: a name too long, a NUL, a loop of links',
    async run({ disk, root }) {
      await refuses(disk.open(`${root}/${'n'.repeat(256)}`, fresh), 'ENAMETOOLONG')
      await refuses(disk.open(`${root}/a\0b`, fresh), 'EINVAL')
      await disk.symlink('b', `${root}/a`)
      await disk.symlink('a', `${root}/b`)
      await refuses(disk.open(`${root}/a`, { read: true }), 'ELOOP')
      await refuses(disk.stat(`${root}/a`), 'ELOOP')
    },
  },
  {
    title: 'a failure names the path as it was given',
    async run({ disk, root }) {
      const path = `${root}/./absent`
      await assert.rejects(disk.stat(path), { name: 'DiskError', code: 'ENOENT', path })
    },
  },
]
