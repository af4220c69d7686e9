/** Owns the cases about bytes, sizes and descriptors. */
import assert from 'node:assert/strict'
import { bytesOf, contentOf, fresh, put, refuses, textOf, using, type DiskCase } from './subject.ts'

export const contentCases: readonly DiskCase[] = [
  {
    title: 'a write beyond the end leaves zeros between, a read stops at the end',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, fresh), async (file) => {
        await file.write(bytesOf('x'), 3)
        const into = new Uint8Array(10).fill(9)
        assert.equal(await file.read(into, 1), 3)
        assert.deepEqual([...into], [0, 0, 120, 9, 9, 9, 9, 9, 9, 9])
        assert.equal(await file.read(into, 4), 0)
        assert.equal(await file.read(into, 400), 0)
      })
    },
  },
  {
    title: 'truncate cuts, and grows with zeros',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, fresh), async (file) => {
        await file.write(bytesOf('abcdef'), 0)
        await file.truncate(2)
        await file.truncate(4)
        assert.equal(await contentOf(file), 'ab\0\0')
      })
    },
  },
  {
    title: 'a descriptor does what it was opened for only',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'text')
      await using(disk.open(`${root}/a`, { read: true }), async (file) => {
        await refuses(file.write(bytesOf('x'), 0), 'EBADF')
        await refuses(file.truncate(0), 'EINVAL', 'EBADF')
        await file.datasync()
        await file.sync()
      })
      await using(disk.open(`${root}/a`, { write: true }), (file) => refuses(file.read(new Uint8Array(1), 0), 'EBADF'))
      assert.equal(await textOf(disk, `${root}/a`), 'text')
    },
  },
  {
    title: 'a closed file refuses everything but closing again',
    async run({ disk, root }) {
      const file = await disk.open(`${root}/a`, fresh)
      await file.close()
      await file.close()
      await refuses(file.stat(), 'EBADF')
      await refuses(file.read(new Uint8Array(1), 0), 'EBADF')
      await refuses(file.write(bytesOf('x'), 0), 'EBADF')
      await refuses(file.datasync(), 'EBADF')
    },
  },
  {
    title: 'two descriptors of one file see the same bytes at once',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, fresh), (one) =>
        using(disk.open(`${root}/a`, { read: true }), async (other) => {
          await one.write(bytesOf('seen'), 0)
          assert.equal(await contentOf(other), 'seen')
        }),
      )
    },
  },
  {
    title: 'an open file outlives its name',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, fresh), async (file) => {
        await disk.unlink(`${root}/a`)
        await file.write(bytesOf('still here'), 0)
        assert.equal(await contentOf(file), 'still here')
        assert.equal((await file.stat()).links, 0)
      })
      await refuses(disk.stat(`${root}/a`), 'ENOENT')
    },
  },
  {
    title: 'an open file stays the same file when its name is given to another',
    async run({ disk, root }) {
      await put(disk, `${root}/a`, 'old')
      await put(disk, `${root}/b`, 'new')
      await using(disk.open(`${root}/a`, { read: true }), async (file) => {
        await disk.rename(`${root}/b`, `${root}/a`)
        assert.equal(await contentOf(file), 'old')
        assert.notEqual((await file.stat()).ino, (await disk.stat(`${root}/a`)).ino)
      })
      assert.equal(await textOf(disk, `${root}/a`), 'new')
    },
  },
  {
    title: 'chmod sets permission bits, chown to the owner itself is allowed',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, fresh), async (file) => {
        await file.chmod(0o640)
        const { uid, gid } = await file.stat()
        await file.chown(uid, gid)
      })
      const { mode, kind } = await disk.stat(`${root}/a`)
      assert.deepEqual({ mode, kind }, { mode: 0o640, kind: 'file' })
    },
  },
]
