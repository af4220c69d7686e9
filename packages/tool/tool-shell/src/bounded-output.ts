/** Owns output while it streams: a head and a tail to be shown, and the whole on its way to a blob when they do not hold it. */
import { type Kept, KeptOutput, type StorePieces } from './kept-output.ts'
import { settledLines } from './plain-text.ts'

/** Pieces of the tail before they are put together. */
const PIECES_MAX = 1024

/** What there was: all of it in `head`, unless something is omitted. */
export interface FinishedOutput {
  readonly head: string
  readonly tail: string
  /** Characters between the two. */
  readonly omitted: number
  /** There when something is omitted; rejects where it could not be stored. */
  readonly kept?: Promise<Kept>
}

export class BoundedOutput {
  private readonly headMax: number
  private readonly tailMax: number
  private readonly store: StorePieces
  private head = ''
  private tail: string[] = []
  private tailLength = 0
  /** Characters that came. */
  private length = 0
  private kept: KeptOutput | undefined

  constructor(charsMax: number, store: StorePieces) {
    this.headMax = Math.floor(charsMax / 2)
    this.tailMax = charsMax - this.headMax
    this.store = store
  }

  add(text: string): void {
    if (text === '') return
    this.length += text.length
    this.kept?.add(text)
    const room = this.headMax - this.head.length
    if (room > 0) this.head += text.slice(0, room)
    const rest = room > 0 ? text.slice(room) : text
    if (rest === '') return
    this.tail.push(rest)
    this.tailLength += rest.length
    if (this.tail.length <= PIECES_MAX && this.tailLength <= 4 * this.tailMax) return
    if (this.tailLength > this.tailMax) this.keep()
    this.tail = [this.tail.join('').slice(-this.tailMax)]
    this.tailLength = this.tail[0]?.length ?? 0
  }

  /** The newest characters, for a live view. */
  latest(chars: number): string {
    return (this.head + this.tail.join('')).slice(-chars).toWellFormed()
  }

  /** Nothing more comes, whenever it is finished. Resolves when what is kept so far is stored, or could not be. */
  async seal(): Promise<void> {
    await this.kept?.end().catch(() => {})
  }

  finish(): FinishedOutput {
    const tail = this.tail.join('').slice(-this.tailMax)
    const dropped = this.length - this.head.length - tail.length
    if (dropped <= 0) return { head: settledLines(this.head + tail), tail: '', omitted: 0 }
    // Half characters at the cut are left out too.
    const head = /[\ud800-\udbff]$/.test(this.head) ? this.head.slice(0, -1) : this.head
    const end = /^[\udc00-\udfff]/.test(tail) ? tail.slice(1) : tail
    return {
      head: settledLines(head),
      tail: settledLines(end),
      omitted: this.length - head.length - end.length,
      kept: this.keep().end(),
    }
  }

  /** Called before the first character falls out. */
  private keep(): KeptOutput {
    if (!this.kept) {
      this.kept = new KeptOutput(this.store)
      this.kept.add(this.head + this.tail.join(''))
    }
    return this.kept
  }
}
