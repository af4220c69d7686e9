/** Owns the blobs of a session: files named by their digest, whole or not there. */
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'
import type { BlobRef, BlobState } from '@sluice/session'
import { makeDirectory, PRIVATE_FILE, readSmall, statIfThere, unlinkIfThere, writeWhole } from './disk.ts'

/** Bytes that one blob may have when it is read back. */
export const BLOB_BYTES_MAX = 1 << 30

const DIGEST = /^[0-9a-f]{64}$/

export async function putBlob(disk: Disk, folder: string, digest: string, bytes: Uint8Array): Promise<void> {
  const path = join(folder, digest)
  await makeDirectory(disk, folder)
  if ((await blobState(disk, folder, digest)) === 'whole') return
  // Outside the folder, where the next writer looks for what a dead one left half done.
  await writeWhole(disk, path, join(dirname(folder), `${digest}.tmp`), [bytes])
}

/** Written to `temporary`, which nobody else uses, until the digest is known. */
export async function streamBlob(
  disk: Disk,
  folder: string,
  temporary: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<BlobRef> {
  await makeDirectory(disk, folder)
  const hash = createHash('sha256')
  let size = 0
  try {
    const file = await disk.open(temporary, { write: true, create: true, exclusive: true, mode: PRIVATE_FILE })
    try {
      for await (const piece of pieces) {
        await file.write(piece, size)
        hash.update(piece)
        size += piece.length
      }
      await file.sync()
    } finally {
      await file.close()
    }
    const digest = hash.digest('hex')
    await disk.rename(temporary, join(folder, digest))
    await disk.syncDir(folder)
    return { digest, size }
  } catch (error) {
    await unlinkIfThere(disk, temporary).catch(() => {})
    throw error
  }
}

/** The bytes, if they are there and have this digest. The digest may come from anywhere. */
export async function getBlob(disk: Disk, folder: string, digest: string): Promise<Uint8Array | undefined> {
  if (!DIGEST.test(digest)) return undefined
  const bytes = await readSmall(disk, join(folder, digest), BLOB_BYTES_MAX)
  if (!bytes || !isOf(digest, bytes)) return undefined
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** What stands in the place of a blob. */
export async function blobState(disk: Disk, folder: string, digest: string): Promise<BlobState> {
  if (!DIGEST.test(digest)) return 'missing'
  const path = join(folder, digest)
  const bytes = await readSmall(disk, path, BLOB_BYTES_MAX)
  if (bytes) return isOf(digest, bytes) ? 'whole' : 'damaged'
  return (await statIfThere(disk, path)) ? 'damaged' : 'missing'
}

function isOf(digest: string, bytes: Uint8Array): boolean {
  return createHash('sha256').update(bytes).digest('hex') === digest
}

/** Names a blob of another folder here too, without copying where the disk can; false when it is not there. */
export async function shareBlob(disk: Disk, from: string, folder: string, digest: string): Promise<boolean> {
  if (!DIGEST.test(digest)) return false
  await makeDirectory(disk, folder)
  try {
    await disk.link(join(from, digest), join(folder, digest))
    await disk.syncDir(folder)
    return true
  } catch (error) {
    if (isDiskError(error, 'EEXIST')) return true
    if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ENOTDIR')) return false
  }
  // Not every disk has hard links.
  const bytes = await getBlob(disk, from, digest)
  if (bytes) await putBlob(disk, folder, digest, bytes)
  return bytes !== undefined
}
