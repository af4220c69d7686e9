/** Owns cutting: keeps the head and the tail of a text, on character boundaries. */

export interface Cut {
  readonly head: string
  readonly tail: string
  /** Characters left out between them. */
  readonly omitted: number
}

/** Head and tail of a text that does not fit. Lengths are in UTF-16 units; no surrogate pair is split. */
export function cut(text: string, charsMax: number): Cut {
  const half = Math.floor(charsMax / 2)
  let headEnd = half
  let tailStart = text.length - half
  if (isLow(text, headEnd)) headEnd--
  if (isLow(text, tailStart)) tailStart++
  return { head: text.slice(0, headEnd), tail: text.slice(tailStart), omitted: tailStart - headEnd }
}

function isLow(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff
}
