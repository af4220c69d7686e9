/** Owns the real disk behind the World port. */
import * as sync from 'node:fs'
import * as fs from 'node:fs/promises'
import { promisify } from 'node:util'
import { type Disk, DiskError, type OpenOptions } from '@sluice/base'
import { Direct } from './direct.ts'
import { withDiskErrors } from './disk-errors.ts'
import { fileStatOf, kindOf, NodeFile } from './disk-file.ts'
import { mtimesOf } from './disk-times.ts'

// Absent on Windows, whatever the types say.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = sync.constants as Partial<typeof sync.constants>

const open = promisify(sync.open)
const bigint = { bigint: true } as const

function flagsOf(options: OpenOptions): number {
  let flags: number = sync.constants.O_RDONLY
  if (options.write) flags = options.read ? sync.constants.O_RDWR : sync.constants.O_WRONLY
  if (options.create) flags |= sync.constants.O_CREAT
  if (options.create && options.exclusive) flags |= sync.constants.O_EXCL
  if (options.truncate) flags |= sync.constants.O_TRUNC
  if (options.noFollow) flags |= O_NOFOLLOW
  if (options.nonBlocking) flags |= O_NONBLOCK
  return flags
}

/** What is asked of the system is answered from memory on a disk of this machine, a trip to another thread costs several times as
 *  much: so lookups, opening, renaming and short reads go at once there. What waits for the disk itself (syncing), what may
 *  be large (folders, long reads, removing) and every other file system goes by way of another thread. */
export function nodeDisk(): Disk {
  const direct = new Direct()
  const quick = <T>(path: string, atOnce: () => T | undefined, threaded: () => Promise<T>): Promise<T> =>
    withDiskErrors(path, async () => {
      const isAtOnce = (await direct.isLocal(path)) && direct.isFree()
      return (isAtOnce ? direct.now(atOnce) : undefined) ?? threaded()
    })
  const quickPair = (from: string, to: string, atOnce: () => void, threaded: () => Promise<void>): Promise<void> =>
    withDiskErrors(from, async () =>
      (await direct.isLocal(from)) && (await direct.isLocal(to)) && direct.isFree() ? direct.now(atOnce) : threaded(),
    )
  return {
    open: (path, options) => withDiskErrors(path, () => openFile(path, options, direct)),
    stat: async (path) =>
      fileStatOf(
        await quick(
          path,
          () => unlessLink(sync.lstatSync(path, bigint)),
          () => fs.stat(path, bigint),
        ),
      ),
    lstat: async (path) =>
      fileStatOf(
        await quick(
          path,
          () => sync.lstatSync(path, bigint),
          () => fs.lstat(path, bigint),
        ),
      ),
    mtimes: mtimesOf(direct),
    realpath: (path) =>
      quick(
        path,
        () => unlessLink(sync.lstatSync(path)) && sync.realpathSync.native(path),
        () => fs.realpath(path),
      ),
    readlink: (path) =>
      quick(
        path,
        () => sync.readlinkSync(path),
        () => fs.readlink(path),
      ),
    readdir: (path) =>
      withDiskErrors(path, async () => {
        const entries = await fs.readdir(path, { withFileTypes: true })
        return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      }),
    mkdir: (path, { recursive = false, mode = 0o777 } = {}) =>
      withDiskErrors(path, async () => void (await fs.mkdir(path, { recursive, mode }))),
    rename: (from, to) =>
      quickPair(
        from,
        to,
        () => sync.renameSync(from, to),
        () => fs.rename(from, to),
      ),
    link: (from, to) =>
      quickPair(
        from,
        to,
        () => sync.linkSync(from, to),
        () => fs.link(from, to),
      ),
    symlink: (target, path) => withDiskErrors(path, () => fs.symlink(target, path)),
    unlink: (path) => withDiskErrors(path, () => fs.unlink(path)),
    rmdir: (path) => withDiskErrors(path, () => fs.rmdir(path)),
    syncDir: (path) => withDiskErrors(path, () => syncDir(path, direct)),
  }
}

/** Where a link leads may be far. */
function unlessLink<Stats extends sync.Stats | sync.BigIntStats>(stats: Stats): Stats | undefined {
  return stats.isSymbolicLink() ? undefined : stats
}

function isNoLink(path: string): boolean {
  return sync.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true
}

async function openFile(path: string, options: OpenOptions, direct: Direct): Promise<NodeFile> {
  // POSIX leaves open what truncating through a read-only descriptor does.
  if (options.truncate && !options.write) throw new DiskError('EINVAL', `EINVAL: open '${path}'`, path)
  const flags = flagsOf(options)
  const mode = options.mode ?? 0o666
  const isNew = options.create === true && options.exclusive === true
  const isLocal = (await direct.isLocal(path)) && (isNew || options.noFollow === true || isNoLink(path))
  // Else it might be a FIFO that waits for its other end.
  const waitsForNobody = isNew || options.nonBlocking === true
  const isAtOnce = isLocal && waitsForNobody && options.truncate !== true && direct.isFree()
  const fd = isAtOnce ? direct.now(() => sync.openSync(path, flags, mode)) : await open(path, flags, mode)
  return new NodeFile(fd, path, direct, { isLocal })
}

async function syncDir(path: string, direct: Direct): Promise<void> {
  // Windows cannot open a directory; its names are journalled.
  if (process.platform === 'win32') return
  const isLocal = (await direct.isLocal(path)) && isNoLink(path)
  const flags = sync.constants.O_RDONLY | O_DIRECTORY
  const fd = isLocal && direct.isFree() ? direct.now(() => sync.openSync(path, flags)) : await open(path, flags, 0o666)
  const folder = new NodeFile(fd, path, direct, { isLocal })
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
