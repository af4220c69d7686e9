/** Owns what every Disk does: the same cases pass on the simulated disk and on the real one. */
import assert from 'node:assert/strict'
import { type Disk, type DiskFile, isDiskError, type OpenOptions } from '@sluice/base'
import type { ContractCase } from './contract.ts'

export interface DiskSubject {
  readonly disk: Disk
  /** Real path of an empty directory. */
  readonly root: string
  readonly umask: number
}

/** Options of a file made for writing. */
const fresh: OpenOptions = { read: true, write: true, create: true, exclusive: true }

async function refuses(work: Promise<unknown>, ...codes: string[]): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(isDiskError(error), `not a DiskError: ${String(error)}`)
    assert.ok(codes.includes(error.code), `${error.code} instead of ${codes.join(' or ')}`)
    return true
  })
}

async function using<T>(file: Promise<DiskFile>, work: (file: DiskFile) => Promise<T>): Promise<T> {
  const opened = await file
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

function put(disk: Disk, path: string, text = ''): Promise<void> {
  return using(disk.open(path, { write: true, create: true, truncate: true }), (file) => file.write(bytesOf(text), 0))
}

function textOf(disk: Disk, path: string): Promise<string> {
  return using(disk.open(path, { read: true }), contentOf)
}

async function contentOf(file: DiskFile): Promise<string> {
  const into = new Uint8Array(4096)
  return new TextDecoder().decode(into.subarray(0, await file.read(into, 0)))
}

async function namesIn(disk: Disk, path: string): Promise<string[]> {
  return (await disk.readdir(path)).map((entry) => entry.name).sort()
}

type Case = ContractCase<DiskSubject>

const opening: Case[] = [
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

const content: Case[] = [
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

const naming: Case[] = [
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

const folders: Case[] = [
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

export const diskContract: readonly Case[] = [...opening, ...content, ...naming, ...folders]

/** Cases for a process that is not the superuser. */
export const diskPermissionContract: readonly Case[] = [
  {
    title: 'a file that may not be read or written is refused',
    async run({ disk, root }) {
      await using(disk.open(`${root}/a`, { ...fresh, mode: 0o200 }), async () => {})
      await using(disk.open(`${root}/b`, { ...fresh, mode: 0o400 }), async () => {})
      await refuses(disk.open(`${root}/a`, { read: true }), 'EACCES')
      await refuses(disk.open(`${root}/b`, { write: true }), 'EACCES')
    },
  },
  {
    title: 'names in a folder that may not be written stay as they are',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/dir`)
      await put(disk, `${root}/dir/a`, 'old')
      await using(disk.open(`${root}/dir`, { read: true }), (dir) => dir.chmod(0o555))
      await refuses(disk.open(`${root}/dir/b`, fresh), 'EACCES')
      await refuses(disk.unlink(`${root}/dir/a`), 'EACCES')
      await refuses(disk.rename(`${root}/dir/a`, `${root}/a`), 'EACCES')
      await put(disk, `${root}/dir/a`, 'files in it may change')
      await using(disk.open(`${root}/dir`, { read: true }), (dir) => dir.chmod(0o755))
    },
  },
  {
    title: 'a folder that may not be searched hides what is in it',
    async run({ disk, root }) {
      await disk.mkdir(`${root}/dir`)
      await put(disk, `${root}/dir/a`)
      await using(disk.open(`${root}/dir`, { read: true }), (dir) => dir.chmod(0o600))
      await refuses(disk.stat(`${root}/dir/a`), 'EACCES')
      await using(disk.open(`${root}/dir`, { read: true }), (dir) => dir.chmod(0o755))
    },
  },
]
