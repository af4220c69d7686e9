/** Owns cutting a stream of bytes into names that end with a zero byte: many at once, because there may be thousands. */
import { isUtf8 } from 'node:buffer'
import type { Reader } from './records.ts'

/** Bytes of a name that has not ended; no system has names as long as that. */
const NAME_BYTES_MAX = 1 << 20

/** Takes the next names, and how many between them are not UTF-8, so that no tool could take them; `false` ends the reading. */
export type OnNames = (names: readonly string[], unnameable: number) => boolean

export class Names implements Reader {
  private readonly onNames: OnNames
  private pending: Buffer = Buffer.alloc(0)

  constructor(onNames: OnNames) {
    this.onNames = onNames
  }

  push(piece: Uint8Array): boolean {
    const bytes = this.pending.length === 0 ? asBuffer(piece) : Buffer.concat([this.pending, piece])
    const end = bytes.lastIndexOf(0)
    this.pending = bytes.subarray(end + 1)
    if (this.pending.length > NAME_BYTES_MAX) this.pending = Buffer.alloc(0)
    if (end === -1) return true
    const whole = bytes.subarray(0, end)
    if (isUtf8(whole)) return this.onNames(whole.toString().split('\0'), 0)
    // Read as one byte per character the bytes stay apart.
    const each = whole.toString('latin1').split('\0')
    const names = each.map((name) => Buffer.from(name, 'latin1')).filter((name) => isUtf8(name))
    return this.onNames(
      names.map((name) => name.toString()),
      each.length - names.length,
    )
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
