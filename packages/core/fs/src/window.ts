/** Owns a window of lines over bytes that arrive in pieces; memory is bounded by the window, not by the file. */

const LF = 10
const CR = 13

/** Lines of a window when the caller names no limit. */
export const LINES_DEFAULT = 2000
/** Characters shown of one line. */
export const LINE_CHARACTERS_MAX = 2000
/** Bytes of text of one window. */
export const TEXT_BYTES_MAX = 96 * 1024
/** Bytes kept of one line: enough for that many characters of any encoding. */
const LINE_BYTES_MAX = LINE_CHARACTERS_MAX * 4

export interface RawLine {
  /** 1-based. */
  readonly number: number
  /** The start of the line, at most as much as can be shown, without its line end. */
  readonly bytes: Buffer
  /** Length of the whole line in bytes. */
  readonly size: number
}

export class LineWindow {
  readonly lines: RawLine[] = []
  /** Stopped before `limit` lines because the text was long enough. */
  stoppedByBytes = false
  private readonly offset: number
  private readonly limit: number
  /** Number of the line that the next byte belongs to. */
  private number = 1
  private parts: Buffer[] = []
  private partsBytes = 0
  private lineBytes = 0
  private lastByte = LF
  private textBytes = 0

  constructor(offset: number, limit: number) {
    this.offset = offset
    this.limit = limit
  }

  /** True when no later byte can change the window. */
  get isComplete(): boolean {
    return this.lines.length >= this.limit || this.stoppedByBytes
  }

  /** Lines of everything fed so far. */
  get linesSeen(): number {
    return this.lastByte === LF ? this.number - 1 : this.number
  }

  feed(piece: Buffer): void {
    if (piece.length === 0) return
    let at = this.skip(piece)
    while (at < piece.length && !this.isComplete) {
      const end = piece.indexOf(LF, at)
      this.keep(piece, at, end === -1 ? piece.length : end)
      if (end === -1) break
      this.closeLine()
      at = end + 1
    }
    if (this.isComplete) this.number += countLineEnds(piece, at)
    this.lastByte = piece[piece.length - 1] as number
  }

  finish(): void {
    if (this.lastByte !== LF && this.number >= this.offset && !this.isComplete) {
      this.closeLine()
      this.number--
    }
  }

  /** Counts lines before the window without looking into them; returns where the window starts in `piece`. */
  private skip(piece: Buffer): number {
    if (this.number >= this.offset) return 0
    const lineEnds = countLineEnds(piece, 0)
    if (this.number + lineEnds < this.offset) {
      this.number += lineEnds
      return piece.length
    }
    let at = 0
    while (this.number < this.offset) {
      const end = piece.indexOf(LF, at)
      this.number++
      at = end + 1
    }
    return at
  }

  private keep(piece: Buffer, from: number, to: number): void {
    const room = LINE_BYTES_MAX - this.partsBytes
    if (room > 0 && to > from) {
      const part = Buffer.from(piece.subarray(from, Math.min(to, from + room)))
      this.parts.push(part)
      this.partsBytes += part.length
    }
    this.lineBytes += to - from
  }

  private closeLine(): void {
    let bytes = this.parts.length === 1 ? (this.parts[0] as Buffer) : Buffer.concat(this.parts)
    let size = this.lineBytes
    if (size === bytes.length && bytes[size - 1] === CR) bytes = bytes.subarray(0, --size)
    this.parts = []
    this.partsBytes = 0
    this.lineBytes = 0
    this.textBytes += bytes.length + 1
    if (this.textBytes > TEXT_BYTES_MAX && this.lines.length > 0) this.stoppedByBytes = true
    else this.lines.push({ number: this.number, bytes, size })
    this.number++
  }
}

const FOUR_LINE_ENDS = 0x0a0a0a0a

/** Line ends in `bytes` from `from` on. Four bytes at a time, because most words hold none: a fifth of the time of a plain loop. */
export function countLineEnds(bytes: Buffer, from: number): number {
  let count = 0
  let at = from
  const end = bytes.length
  for (; at < end && (bytes.byteOffset + at) % 4 !== 0; at++) if (bytes[at] === LF) count++
  const wordCount = (end - at) >> 2
  const words = wordCount === 0 ? new Uint32Array() : new Uint32Array(bytes.buffer, bytes.byteOffset + at, wordCount)
  for (let i = 0; i < words.length; i++) {
    const word = (words[i] as number) ^ FOUR_LINE_ENDS
    // True when one of the four bytes is zero.
    if (((word - 0x01010101) & ~word & 0x80808080) === 0) continue
    if ((word & 0xff) === 0) count++
    if ((word & 0xff00) === 0) count++
    if ((word & 0xff0000) === 0) count++
    if ((word & 0xff000000) === 0) count++
  }
  for (at += words.length * 4; at < end; at++) if (bytes[at] === LF) count++
  return count
}
