/** Owns how the bytes of a text are read: marks first, then UTF-8, then a guess that says it is one. */
import { isAscii, isUtf8 } from 'node:buffer'
import { analyse } from 'chardet'

/** How much of the start decides between text and binary, and is shown to the guess. */
export const HEAD_BYTES = 64 * 1024

export interface Mark {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32'
  /** Length of the byte-order mark. */
  readonly length: number
}

export function markOf(head: Uint8Array): Mark | undefined {
  const [a, b, c, d] = head
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', length: 3 }
  if (a === 0xff && b === 0xfe && c === 0 && d === 0) return { encoding: 'utf-32', length: 4 }
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return { encoding: 'utf-32', length: 4 }
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', length: 2 }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', length: 2 }
  return undefined
}

/** A NUL makes it binary, unless text comes before and nothing but NULs after: a file made longer than what was written. */
export function holdsBinary(head: Buffer): boolean {
  const at = head.indexOf(0)
  if (at <= 0) return at === 0
  return head.subarray(at).some((byte) => byte !== 0)
}

/** Counts, over pieces, the characters beyond ASCII that are valid UTF-8 and the bytes that are not. */
export class Utf8Count {
  characters = 0
  invalidBytes = 0
  private rest: Buffer = Buffer.alloc(0)

  add(piece: Buffer): void {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, piece]) : piece
    const end = bytes.length - unfinishedLength(bytes)
    this.count(bytes.subarray(0, end))
    this.rest = Buffer.from(bytes.subarray(end))
  }

  finish(): void {
    this.count(this.rest)
    this.rest = Buffer.alloc(0)
  }

  /** Text that holds more valid characters than bad bytes is UTF-8 with damage; otherwise it is something else. */
  get isUtf8(): boolean {
    return this.invalidBytes === 0 || this.characters > this.invalidBytes
  }

  private count(bytes: Buffer): void {
    if (isAscii(bytes)) return
    const valid = isUtf8(bytes)
    for (let at = 0; at < bytes.length; ) {
      const length = valid ? leadLength(bytes[at] as number) : sequenceLength(bytes, at)
      if (length === 0) this.invalidBytes++
      else if (length > 1) this.characters++
      at += length || 1
    }
  }
}

function leadLength(byte: number): number {
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
}

/** Length of the valid UTF-8 sequence at `at`, 0 when there is none (Unicode 15, table 3-7). */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] as number
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  const length = leadLength(lead)
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i]
    if (byte === undefined || byte < (i === 1 ? low : 0x80) || byte > (i === 1 ? high : 0xbf)) return 0
  }
  return length
}

/** Bytes at the end that may be the start of a character whose rest comes with the next piece. */
function unfinishedLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte >= 0xc0) return leadLength(byte) > back ? back : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** The likely encoding of bytes that are not UTF-8; always one that can be decoded. */
export function guessEncoding(head: Buffer): string {
  for (const { name } of analyse(head)) {
    if (name.startsWith('UTF-') || name === 'ASCII') continue
    try {
      return new TextDecoder(name).encoding
    } catch {
      // A name that the platform cannot decode: the next best guess.
    }
  }
  return 'windows-1252'
}
