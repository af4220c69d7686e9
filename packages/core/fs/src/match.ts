/** Owns finding a text in bytes: literally, except that a line end matches the one the file has at that place. */

const LF = 10
const CR = 13

/** How many line numbers a refusal lists. */
export const MATCH_LINES_MAX = 10

/** Further matches are not counted. */
export const MATCHES_COUNTED_MAX = 10_000

export type Ending = '\n' | '\r\n'

/** A text cut at its line ends; CRLF and LF are the same here. */
export interface Pattern {
  readonly lines: readonly string[]
  readonly segments: readonly Buffer[]
}

export interface Match {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  /** The line ends inside the match, in order. */
  readonly endings: readonly Ending[]
}

export function patternOf(text: string): Pattern {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return { lines, segments: lines.map((line) => Buffer.from(line, 'utf8')) }
}

/** The match that starts exactly at `start`. CRLF counts as one line end and is never split. */
function matchAt(bytes: Buffer, pattern: Pattern, start: number): Match | undefined {
  const endings: Ending[] = []
  const { segments } = pattern
  let at = start
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as Buffer
    if (at + segment.length > bytes.length) return undefined
    if (bytes.compare(segment, 0, segment.length, at, at + segment.length) !== 0) return undefined
    at += segment.length
    if (i === segments.length - 1) break
    const halfOfCrLf = at > start && bytes[at - 1] === CR
    if (bytes[at] === LF && !halfOfCrLf) {
      endings.push('\n')
      at += 1
    } else if (bytes[at] === CR && bytes[at + 1] === LF) {
      endings.push('\r\n')
      at += 2
    } else return undefined
  }
  if (at > start && bytes[at - 1] === CR && bytes[at] === LF) return undefined
  return { start, end: at, endings }
}

/** Every match from `from` on, in order, overlapping ones included. */
export function* matches(bytes: Buffer, pattern: Pattern, from: number): Generator<Match> {
  const first = pattern.segments[0] as Buffer
  const needle = first.length > 0 ? first : LF
  for (let at = bytes.indexOf(needle, from); at !== -1; at = bytes.indexOf(needle, at + 1)) {
    const start = first.length === 0 && at > from && bytes[at - 1] === CR ? at - 1 : at
    const match = matchAt(bytes, pattern, start)
    if (match) yield match
  }
}

export interface Count {
  /** At most {@link MATCHES_COUNTED_MAX}. */
  readonly count: number
  /** 1-based lines of the first matches, at most {@link MATCH_LINES_MAX}. */
  readonly lines: readonly number[]
  readonly first: Match | undefined
}

export function countMatches(bytes: Buffer, pattern: Pattern, from: number): Count {
  const lines: number[] = []
  let first: Match | undefined
  let count = 0
  let line = 1
  let counted = 0
  for (const match of matches(bytes, pattern, from)) {
    first ??= match
    if (++count === MATCHES_COUNTED_MAX) break
    if (lines.length >= MATCH_LINES_MAX) continue
    line += linesBetween(bytes, counted, match.start)
    counted = match.start
    lines.push(line)
  }
  return { count, lines, first }
}

/** Matches from left to right, none overlapping the one before. */
export function separateMatches(bytes: Buffer, pattern: Pattern, from: number): Match[] {
  const found: Match[] = []
  for (let end = from; ; ) {
    const { value } = matches(bytes, pattern, end).next()
    if (!value) return found
    found.push(value)
    end = value.end
  }
}

export function linesBetween(bytes: Buffer, from: number, to: number): number {
  let lines = 0
  for (let at = bytes.indexOf(LF, from); at !== -1 && at < to; at = bytes.indexOf(LF, at + 1)) lines++
  return lines
}

/** The line end nearest to a span: the one before it, else the one after it, else LF. */
export function endingNear(bytes: Buffer, start: number, end: number): Ending {
  const before = start > 0 ? bytes.lastIndexOf(LF, start - 1) : -1
  const at = before !== -1 ? before : bytes.indexOf(LF, end)
  return at > 0 && bytes[at - 1] === CR ? '\r\n' : '\n'
}
