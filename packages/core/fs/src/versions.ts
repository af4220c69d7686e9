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

/** The version that an open file holds, in pieces; looked at no further than beyond `size`, the expected one. */
export async function versionInFile(file: DiskFile, size: number): Promise<Version> {
  const version = new VersionBuilder()
  const piece = Buffer.allocUnsafe(Math.min(size + 1, PIECE_BYTES))
  for (let at = 0; ; ) {
    const count = await file.read(piece, at)
    version.add(piece.subarray(0, count))
    at += count
    const isEnd = count === 0 || (count < piece.length && at === size)
    if (isEnd || at > size) return version.finish()
  }
}
