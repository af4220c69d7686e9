/** Owns cutting a stream of bytes into records that end with one certain byte. */

/** Bytes of one record; a longer one ends the reading. */
export const RECORD_BYTES_MAX = 16 * 1024 * 1024

/** Takes a record; `false` ends the reading. */
export type OnRecord = (record: Uint8Array) => boolean

export class Records {
  private readonly separator: number
  private readonly onRecord: OnRecord
  /** Pieces of a record that has not ended; put together once. */
  private pending: Uint8Array[] = []
  private pendingBytes = 0

  constructor(separator: number, onRecord: OnRecord) {
    this.separator = separator
    this.onRecord = onRecord
  }

  /** `false` once nothing more is wanted, or a record is too long. */
  push(piece: Uint8Array): boolean {
    let from = 0
    for (let end = piece.indexOf(this.separator); end >= 0; end = piece.indexOf(this.separator, from)) {
      if (this.pendingBytes + end - from > RECORD_BYTES_MAX) return false
      const record = this.whole(piece.subarray(from, end))
      from = end + 1
      if (!this.onRecord(record)) return false
    }
    if (from < piece.length) {
      this.pending.push(piece.subarray(from))
      this.pendingBytes += piece.length - from
    }
    return this.pendingBytes <= RECORD_BYTES_MAX
  }

  private whole(last: Uint8Array): Uint8Array {
    if (this.pendingBytes === 0) return last
    const record = Buffer.concat([...this.pending, last])
    this.pending = []
    this.pendingBytes = 0
    return record
  }
}
