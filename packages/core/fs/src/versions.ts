/** Owns versions: what a content is, whatever its name and times. */
import { createHash, type Hash } from 'node:crypto'
import type { Version } from './types.ts'

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
