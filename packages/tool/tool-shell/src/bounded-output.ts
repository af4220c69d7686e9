/** Owns output while it streams: a head and a tail to be shown, and the beginning of the whole to be kept. */
import { settledLines } from './plain-text.ts'

/** Pieces of the tail before they are put together. */
const PIECES_MAX = 1024
/** Characters from the beginning that are kept for a person. */
export const KEPT_CHARS_MAX = 2_000_000

/** What there was: all of it in `head`, unless something is omitted. */
export interface FinishedOutput {
  readonly head: string
  readonly tail: string
  /** Characters between the two. */
  readonly omitted: number
  /** The whole, or its first {@link KEPT_CHARS_MAX} characters; empty when nothing is omitted. */
  readonly kept: string
  readonly keptAll: boolean
}

export class BoundedOutput {
  private readonly headMax: number
  private readonly tailMax: number
  private head = ''
  private tail: string[] = []
  private tailLength = 0
  private readonly kept: string[] = []
  /** Characters that came, kept or not. */
  private length = 0

  constructor(charsMax: number) {
    this.headMax = Math.floor(charsMax / 2)
    this.tailMax = charsMax - this.headMax
  }

  add(text: string): void {
    if (text === '') return
    if (this.length < KEPT_CHARS_MAX) this.kept.push(text.slice(0, KEPT_CHARS_MAX - this.length))
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

  /** The newest characters, for a live view. */
  latest(chars: number): string {
    return (this.head + this.tail.join('')).slice(-chars).toWellFormed()
  }

  finish(): FinishedOutput {
    const tail = this.tail.join('').slice(-this.tailMax)
    const dropped = this.length - this.head.length - tail.length
    if (dropped <= 0) return { head: settledLines(this.head + tail), tail: '', omitted: 0, kept: '', keptAll: true }
    // Half characters at the cut are left out too.
    const head = /[\ud800-\udbff]$/.test(this.head) ? this.head.slice(0, -1) : this.head
    const end = /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
    return {
      head: settledLines(head),
      tail: settledLines(end),
      omitted: this.length - head.length - end.length,
      kept: this.kept.join(''),
      keptAll: this.length <= KEPT_CHARS_MAX,
    }
  }
}
