/** Owns the real disk behind the World port. */
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import { type Disk, DiskError, type OpenOptions } from '@sluice/base'
import { withDiskErrors } from './disk-errors.ts'
import { fileStatOf, kindOf, NodeFile } from './disk-file.ts'
import { mtimes } from './disk-times.ts'

// Absent on Windows, whatever the types say.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = constants as Partial<typeof constants>

function flagsOf(options: OpenOptions): number {
  let flags: number = constants.O_RDONLY
  if (options.write) flags = options.read ? constants.O_RDWR : constants.O_WRONLY
  if (options.create) flags |= constants.O_CREAT
  if (options.create && options.exclusive) flags |= constants.O_EXCL
  if (options.truncate) flags |= constants.O_TRUNC
  if (options.noFollow) flags |= O_NOFOLLOW
  if (options.nonBlocking) flags |= O_NONBLOCK
  return flags
}

export function nodeDisk(): Disk {
  return {
    open: (path, options) =>
      withDiskErrors(path, async () => {
        // POSIX leaves open what truncating through a read-only descriptor does.
        if (options.truncate && !options.write) throw new DiskError('EINVAL', `EINVAL: open '${path}'`, path)
        return new NodeFile(await fs.open(path, flagsOf(options), options.mode ?? 0o666), path)
      }),
    stat: (path) => withDiskErrors(path, async () => fileStatOf(await fs.stat(path, { bigint: true }))),
    lstat: (path) => withDiskErrors(path, async () => fileStatOf(await fs.lstat(path, { bigint: true }))),
    mtimes,
    realpath: (path) => withDiskErrors(path, () => fs.realpath(path)),
    readlink: (path) => withDiskErrors(path, () => fs.readlink(path)),
    readdir: (path) =>
      withDiskErrors(path, async () => {
        const entries = await fs.readdir(path, { withFileTypes: true })
        return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      }),
    mkdir: (path, { recursive = false, mode = 0o777 } = {}) =>
      withDiskErrors(path, async () => void (await fs.mkdir(path, { recursive, mode }))),
    rename: (from, to) => withDiskErrors(from, () => fs.rename(from, to)),
    link: (from, to) => withDiskErrors(from, () => fs.link(from, to)),
    symlink: (target, path) => withDiskErrors(path, () => fs.symlink(target, path)),
    unlink: (path) => withDiskErrors(path, () => fs.unlink(path)),
    rmdir: (path) => withDiskErrors(path, () => fs.rmdir(path)),
    syncDir: (path) => withDiskErrors(path, () => syncDir(path)),
  }
}

async function syncDir(path: string): Promise<void> {
  // Windows cannot open a directory; its names are journalled.
  if (process.platform === 'win32') return
  const handle = await fs.open(path, constants.O_RDONLY | O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    // Nothing is written by it, so nobody waits for it.
    handle.close().catch(() => undefined)
  }
}
