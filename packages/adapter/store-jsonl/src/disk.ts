/** Owns small disk operations that the parts of the store share. */
import { type Disk, type DiskFile, type FileStat, isDiskError, messageOf } from '@sluice/base'
import { dirname, join } from 'node:path'

export const PRIVATE_FILE = 0o600
export const PRIVATE_DIRECTORY = 0o700
const COPY_BYTES = 1 << 20

/** The POSIX name of a disk failure, or its message. */
export function codeOf(error: unknown): string {
  return isDiskError(error) ? error.code : messageOf(error)
}

/** Makes a folder with all above it, each of them durable. One that exists is fine. */
export async function makeDirectory(disk: Disk, path: string): Promise<void> {
  try {
    await disk.mkdir(path, { mode: PRIVATE_DIRECTORY })
  } catch (error) {
    if (isDiskError(error, 'EEXIST')) return
    if (!isDiskError(error, 'ENOENT') || dirname(path) === path) throw error
    await makeDirectory(disk, dirname(path))
    return makeDirectory(disk, path)
  }
  await disk.syncDir(dirname(path))
}

/** The bytes of a regular file of at most `bytesMax`, or `undefined` where there is none. Never waits for a FIFO. */
export async function readSmall(disk: Disk, path: string, bytesMax: number): Promise<Buffer | undefined> {
  const file = await openIfThere(disk, path)
  if (!file) return undefined
  try {
    const { kind, size } = await file.stat()
    if (kind !== 'file' || size > bytesMax) return undefined
    return await readAll(file, size)
  } finally {
    await file.close()
  }
}

async function openIfThere(disk: Disk, path: string): Promise<DiskFile | undefined> {
  try {
    return await disk.open(path, { read: true, noFollow: true, nonBlocking: true })
  } catch (error) {
    if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ELOOP')) return undefined
    throw error
  }
}

export async function readAll(file: DiskFile, size: number, position = 0): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size)
  let done = 0
  while (done < size) {
    const read = await file.read(bytes.subarray(done), position + done)
    if (read === 0) break
    done += read
  }
  return bytes.subarray(0, done)
}

/** What stands there, if anything does. Links are not followed. */
export async function statIfThere(disk: Disk, path: string): Promise<FileStat | undefined> {
  try {
    return await disk.lstat(path)
  } catch (error) {
    if (isDiskError(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Puts a whole file in place: written and synced under another name, then renamed, then the folder is synced. */
export async function writeWhole(
  disk: Disk,
  path: string,
  temporary: string,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  await putInPlace(disk, path, temporary, async (file) => {
    let at = 0
    for (const piece of pieces) {
      await file.write(piece, at)
      at += piece.length
    }
  })
}

/** Puts a copy of an open file in its place, so that whoever has it open has another file from then on. */
export async function replaceByCopy(disk: Disk, path: string, original: DiskFile): Promise<void> {
  await putInPlace(disk, path, `${path}.tmp`, async (copy) => {
    const chunk = Buffer.allocUnsafe(COPY_BYTES)
    for (let at = 0; ; ) {
      const read = await original.read(chunk, at)
      if (read === 0) break
      await copy.write(chunk.subarray(0, read), at)
      at += read
    }
  })
}

async function putInPlace(
  disk: Disk,
  path: string,
  temporary: string,
  fill: (file: DiskFile) => Promise<void>,
): Promise<void> {
  const file = await disk.open(temporary, { write: true, create: true, truncate: true, mode: PRIVATE_FILE })
  try {
    try {
      await fill(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await disk.rename(temporary, path)
  } catch (error) {
    // On a full disk half a file would take the room that the log needs.
    await unlinkIfThere(disk, temporary).catch(() => {})
    throw error
  }
  await disk.syncDir(dirname(path))
}

export async function unlinkIfThere(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path)
  } catch (error) {
    if (!isDiskError(error, 'ENOENT')) throw error
  }
}

/** Removes a folder with everything in it; one that is not there is fine. Links are removed, not followed. */
export async function removeTree(disk: Disk, path: string): Promise<void> {
  const entries = await disk.readdir(path).catch((error: unknown) => {
    if (isDiskError(error, 'ENOENT')) return undefined
    throw error
  })
  if (!entries) return
  for (const { name, kind } of entries) {
    const inner = join(path, name)
    if (kind === 'directory') await removeTree(disk, inner)
    else await unlinkIfThere(disk, inner)
  }
  await disk.rmdir(path).catch((error: unknown) => {
    // A link to the folder.
    if (isDiskError(error, 'ENOTDIR')) return unlinkIfThere(disk, path)
    // Somebody else removes it too.
    if (!isDiskError(error, 'ENOENT')) throw error
    return undefined
  })
}
