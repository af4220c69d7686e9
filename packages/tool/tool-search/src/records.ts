/** Owns cutting a stream of bytes into records that end with one certain byte. */

/** Bytes of one record; a longer one is left out. */
export const RECORD_BYTES_MAX = 16 * 1024 * 1024

/** Takes the output of a program piece by piece. */
export interface Reader {
  /** `false` once nothing more is wanted. */
  push(piece: Uint8Array): boolean
}

/** Takes a record, or nothing for one that is too long; `false` ends the reading. */
export type OnRecord = (record: Uint8Array | undefined) => boolean

export class Records implements Reader {
  private readonly separator: number
  private readonly onRecord: OnRecord
  /** Pieces of a record that has not ended; put together once. */
  private pending: Uint8Array[] = []
  private pendingBytes = 0
  /** The rest of a record that is too long comes. */
  private isSkipping = false

  constructor(separator: number, onRecord: OnRecord) {
    this.separator = separator
    this.onRecord = onRecord
  }

  push(piece: Uint8Array): boolean {
    let from = 0
    for (let end = piece.indexOf(this.separator); end >= 0; end = piece.indexOf(this.separator, from)) {
      this.keep(piece.subarray(from, end))
      from = end + 1
      const record = this.taken()
      if (!this.onRecord(record)) return false
    }
    this.keep(piece.subarray(from))
    return true
  }

  private keep(part: Uint8Array): void {
    this.pendingBytes += part.length
    if (this.pendingBytes > RECORD_BYTES_MAX) this.isSkipping = true
    if (this.isSkipping) this.pending = []
    else if (part.length > 0) this.pending.push(part)
  }

  private taken(): Uint8Array | undefined {
    const { pending, isSkipping } = this
    this.pending = []
    this.pendingBytes = 0
    this.isSkipping = false
    if (isSkipping) return undefined
    return pending.length === 1 ? pending[0] : Buffer.concat(pending)
  }
}
