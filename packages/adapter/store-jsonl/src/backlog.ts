/** Owns the bytes of the records that are not on disk for certain, as they stand in the file. */
import { SUFFIX_BYTES, writeRecord } from './record.ts'

/** Kept from one batch to the next. */
const KEPT_BYTES = 64 << 10
/** A longer text is measured before there is made room for it. */
const MEASURED_CHARACTERS = 8 << 10

const empty: Buffer = Buffer.alloc(0)

export class Backlog {
  private bytes = empty
  /** Place in the file of the first of `bytes`. */
  private base: number
  /** Place in the file of the first byte that is waiting. */
  private start: number
  private after: number

  /** `end` is where the file ends. */
  constructor(end: number) {
    this.base = this.start = this.after = end
  }

  /** Place in the file after the last record. */
  get end(): number {
    return this.after
  }

  /** How many bytes wait. */
  get size(): number {
    return this.after - this.start
  }

  add(json: string): void {
    if (this.start === this.after) this.base = this.after
    const needed = SUFFIX_BYTES + (json.length > MEASURED_CHARACTERS ? Buffer.byteLength(json) : json.length * 3)
    if (this.after - this.base + needed > this.bytes.length) this.makeRoom(needed)
    this.after = this.base + writeRecord(json, this.bytes, this.after - this.base)
  }

  /** What stands in the file from `place` on, when all of it is written. They stay as they are while they wait. */
  from(place: number): Buffer {
    return this.bytes.subarray(place - this.base, this.after - this.base)
  }

  /** Everything before `place` is on disk. */
  release(place: number): void {
    this.start = place
    if (this.size === 0 && this.bytes.length > KEPT_BYTES) this.bytes = empty
  }

  /** The bytes that wait move to a new place: the disk may be reading them in the old one. */
  private makeRoom(bytes: number): void {
    const waiting = this.from(this.start)
    this.bytes = Buffer.allocUnsafeSlow(Math.max(KEPT_BYTES, 2 * (waiting.length + bytes)))
    waiting.copy(this.bytes)
    this.base = this.start
  }
}
