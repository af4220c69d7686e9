/** Owns versions: what a content is, whatever its name and times. */
import { createHash, type Hash } from 'node:crypto'
import type { DiskFile } from '@sluice/base'
import type { Version } from './types.ts'

/** Bytes asked from the disk at once. */
export const PIECE_BYTES = 512 * 1024

export function versionOf(bytes: Uint8Array): Version {
  return { digest: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
}

export function sameVersion(a: Version | undefined, b: Version | undefined): boolean {
  return a?.digest === b?.digest && a?.size === b?.size
}

/** A version of content that arrives in pieces. */
export class VersionBuilder {
  private readonly hash: Hash = createHash('sha256')
  private size = 0

  add(bytes: Uint8Array): void {
    this.hash.update(bytes)
    this.size += bytes.length
  }

  finish(): Version {
    return { digest: this.hash.digest('hex'), size: this.size }
  }
}

/** Whether an open file holds `bytes` and no more; read in pieces. */
export async function holdsStill(file: DiskFile, bytes: Buffer): Promise<boolean> {
  const piece = Buffer.allocUnsafe(Math.min(bytes.length + 1, PIECE_BYTES))
  for (let at = 0; ; ) {
    const count = await file.read(piece, at)
    if (!piece.subarray(0, count).equals(bytes.subarray(at, at + count))) return false
    at += count
    // Less than was asked for, at the end that is expected, is the end.
    if (count === 0 || (count < piece.length && at === bytes.length)) return at === bytes.length
  }
}
