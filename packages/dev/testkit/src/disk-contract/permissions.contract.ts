/** Owns the cases about permissions of a process that is not the superuser. */
import { fresh, put, refuses, using, type DiskCase } from './subject.ts'

export const permissionCases: readonly DiskCase[] = [
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
