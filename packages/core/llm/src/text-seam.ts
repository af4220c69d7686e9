/** Owns text that arrives in pieces: a character cut between two pieces is put together, a half one is replaced. */
import type { StreamPart } from './types.ts'

export type TextPiece = Extract<StreamPart, { type: 'text' | 'reasoning' }>

export class TextSeam {
  private held = ''
  private type: TextPiece['type'] = 'text'

  /** Pieces that are ready to be shown; a trailing first half of a character waits for its second. */
  push(piece: TextPiece): TextPiece[] {
    const before = piece.type === this.type ? [] : this.flush()
    this.type = piece.type
    let text = this.held + piece.text
    this.held = ''
    const last = text.charCodeAt(text.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      this.held = text.slice(-1)
      text = text.slice(0, -1)
    }
    if (text === '') return before
    return [...before, { type: piece.type, text: text.toWellFormed() }]
  }

  flush(): TextPiece[] {
    if (this.held === '') return []
    const text = this.held.toWellFormed()
    this.held = ''
    return [{ type: this.type, text }]
  }
}
