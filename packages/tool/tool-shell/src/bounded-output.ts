/** Owns the output of a command while it streams: a head, a tail, and a count of what fell out between them. */
import { PlainText, settledLines } from './plain-text.ts'

/** Pieces of the tail before they are put together. */
const PIECES_MAX = 1024

export interface OutputStream {
  push(bytes: Uint8Array): void
}

export class BoundedOutput {
  private readonly headMax: number
  private readonly tailMax: number
  private readonly flushes: (() => void)[] = []
  private head = ''
  private tail: string[] = []
  private tailLength = 0
  /** Characters that came, kept or not. */
  length = 0

  constructor(charsMax: number) {
    this.headMax = Math.floor(charsMax / 2)
    this.tailMax = charsMax - this.headMax
  }

  /** A stream of its own: its characters and escape sequences may be cut anywhere, whatever other streams do. */
  stream(): OutputStream {
    const decoder = new TextDecoder()
    const plain = new PlainText()
    this.flushes.push(() => this.add(plain.push(decoder.decode()) + plain.flush()))
    return { push: (bytes) => this.add(plain.push(decoder.decode(bytes, { stream: true }))) }
  }

  /** The newest characters, for a live view. */
  latest(chars: number): string {
    return (this.head + this.tail.join('')).slice(-chars).toWellFormed()
  }

  /** Ends the streams. `note` says how much was left out. */
  finish(note: (omitted: number) => string): { readonly text: string; readonly omitted: number } {
    for (const flush of this.flushes.splice(0)) flush()
    const tail = this.tail.join('').slice(-this.tailMax)
    const dropped = this.length - this.head.length - tail.length
    if (dropped <= 0) return { text: settledLines(this.head + tail), omitted: 0 }
    // Half characters at the cut are left out too.
    const head = /[\ud800-\udbff]$/.test(this.head) ? this.head.slice(0, -1) : this.head
    const end = /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
    const omitted = this.length - head.length - end.length
    return { text: settledLines(head) + note(omitted) + settledLines(end), omitted }
  }

  private add(text: string): void {
    this.length += text.length
    const room = this.headMax - this.head.length
    if (room > 0) this.head += text.slice(0, room)
    const rest = room > 0 ? text.slice(room) : text
    if (rest === '') return
    this.tail.push(rest)
    this.tailLength += rest.length
    if (this.tail.length <= PIECES_MAX && this.tailLength <= 4 * this.tailMax) return
    this.tail = [this.tail.join('').slice(-this.tailMax)]
    this.tailLength = this.tail[0]?.length ?? 0
  }
}
