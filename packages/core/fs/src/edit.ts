/** Owns the splice of bytes: pieces replace matches, every byte outside a match stays as it is. */
import { fsErrors } from './errors.ts'
import { countMatches, endingNear, type Match, type Pattern, patternOf, separateMatches } from './match.ts'
import { nearMiss } from './near-miss.ts'
import type { EditPiece } from './types.ts'

const BOM = '\uFEFF'

export interface EditRules {
  readonly path: string
  /** Where the text starts: after a byte-order mark. */
  readonly bodyStart: number
  /** The file changed since it was seen: a match must then be the only one, else the edit is stale. */
  readonly stale: boolean
}

/** The bytes after every piece, each applied to what the one before left; nothing is changed when one fails.
 *  @throws FS_NO_MATCH, FS_AMBIGUOUS, FS_EMPTY_OLD_TEXT, FS_NO_CHANGE, FS_STALE, FS_TEXT_INVALID */
export function applyPieces(original: Uint8Array, pieces: readonly EditPiece[], rules: EditRules): Buffer {
  let bytes = asBuffer(original)
  for (let i = 0; i < pieces.length; i++) bytes = applyPiece(bytes, pieces[i] as EditPiece, i, pieces.length > 1, rules)
  if (bytes.equals(original)) throw fsErrors('FS_NO_CHANGE', { path: rules.path })
  return bytes
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text
}

function applyPiece(bytes: Buffer, piece: EditPiece, index: number, numbered: boolean, rules: EditRules): Buffer {
  const { path, bodyStart } = rules
  const number = numbered ? { piece: index } : { piece: -1 }
  const oldText = withoutBom(piece.oldText)
  const newText = bodyStart > 0 ? withoutBom(piece.newText) : piece.newText
  if (!newText.isWellFormed() || !oldText.isWellFormed()) throw fsErrors('FS_TEXT_INVALID', { path })
  if (oldText === '') {
    if (bytes.length > bodyStart) throw fsErrors('FS_EMPTY_OLD_TEXT', { path, ...number })
    return Buffer.concat([bytes, Buffer.from(newText, 'utf8')])
  }
  const old = patternOf(oldText)
  const replacement = patternOf(newText)
  if (old.lines.join('\n') === replacement.lines.join('\n')) throw fsErrors('FS_NO_CHANGE', { path })
  const { count, lines, first } = countMatches(bytes, old, bodyStart)
  if (first === undefined) {
    const hint = nearMiss(bytes, oldText)
    if (rules.stale)
      throw fsErrors('FS_STALE', { path, detail: `the old text is no longer there${hint ? ` (${hint})` : ''}` })
    throw fsErrors('FS_NO_MATCH', hint === undefined ? { path, ...number } : { path, ...number, hint })
  }
  if (count > 1 && rules.stale) {
    throw fsErrors('FS_STALE', { path, detail: `the old text now occurs ${count} times (lines ${lines.join(', ')})` })
  }
  if (count > 1 && piece.replaceAll !== true) throw fsErrors('FS_AMBIGUOUS', { path, ...number, count, lines })
  return splice(bytes, piece.replaceAll === true ? separateMatches(bytes, old, bodyStart) : [first], old, replacement)
}

function splice(bytes: Buffer, spans: readonly Match[], old: Pattern, replacement: Pattern): Buffer {
  const parts: Uint8Array[] = []
  let kept = 0
  for (const span of spans) {
    parts.push(bytes.subarray(kept, span.start), withEndings(bytes, span, old, replacement))
    kept = span.end
  }
  parts.push(bytes.subarray(kept))
  return Buffer.concat(parts)
}

/** The replacement with line ends of its neighbours: a line that stays keeps its own, a new one takes that of the line before. */
function withEndings(bytes: Buffer, span: Match, old: Pattern, replacement: Pattern): Buffer {
  const count = replacement.lines.length - 1
  if (count === 0) return replacement.segments[0] as Buffer
  const { endings } = span
  const head = sharedLines(old.lines, replacement.lines, (lines, i) => lines[i])
  const tail = sharedLines(old.lines, replacement.lines, (lines, i) => lines[lines.length - 1 - i])
  let ending = endings[0] ?? endingNear(bytes, span.start, span.end)
  const parts: Uint8Array[] = []
  for (let i = 0; i < count; i++) {
    const fromEnd = count - i
    const isSameLine = i < head || count === endings.length
    const kept = isSameLine ? endings[i] : fromEnd < tail ? endings[endings.length - fromEnd] : undefined
    ending = kept ?? ending
    parts.push(replacement.segments[i] as Buffer, Buffer.from(ending))
  }
  parts.push(replacement.segments[count] as Buffer)
  return Buffer.concat(parts)
}

function sharedLines(
  a: readonly string[],
  b: readonly string[],
  pick: (lines: readonly string[], i: number) => string | undefined,
): number {
  const most = Math.min(a.length, b.length)
  for (let i = 0; i < most; i++) if (pick(a, i) !== pick(b, i)) return i
  return most
}
