/** Owns what is kept of output that is too long to be shown: a blob of bounded size, stored while it comes. */
import type { BlobRef } from '@sluice/session'

/** Of a blob. */
export const KEPT_BYTES_MAX = 64 * 1024 * 1024
/** Characters that wait to be stored: of output that comes faster than this is stored, the beginning is kept. */
export const WAITING_CHARS_MAX = 16 * 1024 * 1024

export type StorePieces = (pieces: AsyncIterable<Uint8Array>) => Promise<BlobRef>

export interface Kept {
  readonly blob: BlobRef
  /** Otherwise the beginning. */
  readonly all: boolean
}

export class KeptOutput {
  private readonly stored: Promise<BlobRef>
  private waiting: string[] = []
  private waitingChars = 0
  private all = true
  private over = false
  private wake = () => {}

  constructor(store: StorePieces) {
    this.stored = store(this.pieces())
    // Where it cannot be stored nothing waits for it; `end` tells why.
    this.stored.catch(() => {
      this.over = true
      this.waiting = []
    })
  }

  add(text: string): void {
    if (this.over) return
    if (this.waitingChars + text.length > WAITING_CHARS_MAX) return this.cut()
    this.waiting.push(text)
    this.waitingChars += text.length
    this.wake()
  }

  /** Nothing more comes. Rejects where it could not be stored. */
  async end(): Promise<Kept> {
    this.over = true
    this.wake()
    return { blob: await this.stored, all: this.all }
  }

  private cut(): void {
    this.all = false
    this.over = true
    this.wake()
  }

  private async *pieces(): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder()
    for (let room = KEPT_BYTES_MAX; ; ) {
      const bytes = encoder.encode(this.waiting.join(''))
      this.waiting = []
      this.waitingChars = 0
      if (bytes.length > room) {
        this.cut()
        yield bytes.subarray(0, wholeCharacters(bytes, room))
        return
      }
      room -= bytes.length
      if (bytes.length > 0) yield bytes
      else if (this.over) return
      else await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }
}

/** How many of the first `max` bytes end with a whole character. */
function wholeCharacters(bytes: Uint8Array, max: number): number {
  let end = max
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return end
}
