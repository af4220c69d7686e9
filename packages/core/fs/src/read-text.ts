/** Owns reading text: streamed, a window of lines in memory, the version of the whole where the file can be changed. */
import type { Opened } from './access.ts'
import { guessEncoding, type Mark, Utf8Count } from './encoding.ts'
import { NUL_SHOWN, readPrompts } from './prompt.ts'
import type { ReadOptions, ReadOutcome } from './read.ts'
import type { LineRange, ReadResult } from './types.ts'
import { PIECE_BYTES, VersionBuilder } from './versions.ts'
import { LINE_CHARACTERS_MAX, LINES_DEFAULT, LineWindow, type RawLine } from './window.ts'

/** Larger files cannot be changed and have no version. */
export const CHANGE_BYTES_MAX = 64 * 1024 * 1024
/** Files up to this are read to their end whatever the window, so that every read of them has a version. */
const WHOLE_BYTES_MAX = 16 * 1024 * 1024
/** Asked for at once of a file that has no size. */
const SIZELESS_PIECE_BYTES = 4096
/** How many cut lines are named one by one. */
const CUTS_NAMED_MAX = 5

interface Scan {
  readonly window: LineWindow
  readonly utf8: Utf8Count
  readonly version: VersionBuilder
  position: number
  reachedEnd: boolean
}

export async function readText(
  opened: Opened,
  head: Buffer,
  mark: Mark | undefined,
  options: ReadOptions,
  signal: AbortSignal | undefined,
): Promise<ReadOutcome> {
  const offset = options.offset ?? 1
  const window = new LineWindow(offset, options.limit ?? LINES_DEFAULT)
  const scan: Scan = { window, utf8: new Utf8Count(), version: new VersionBuilder(), position: 0, reachedEnd: false }
  await scanFile(scan, opened, head, mark, signal)
  const canChange = scan.reachedEnd && Math.max(opened.stat.size, scan.position) <= CHANGE_BYTES_MAX
  const encoding = encodingOf(scan, head, mark)
  const { lines, cut } = decode(window.lines, encoding)
  const total = scan.reachedEnd ? window.linesSeen : undefined
  const result: ReadResult = {
    target: opened.target,
    version: canChange ? scan.version.finish() : undefined,
    kind: 'text',
    mediaType: 'text/plain',
    encoding,
    bom: mark !== undefined,
    lines,
    range: { from: offset, to: offset + lines.length - 1 },
    linesTotal: total,
    cuts: [
      ...cut.slice(0, CUTS_NAMED_MAX).map((line) => readPrompts.lineCut(line.number, LINE_CHARACTERS_MAX, line.size)),
      ...(cut.length > CUTS_NAMED_MAX ? [readPrompts.linesCut(cut.length - CUTS_NAMED_MAX)] : []),
      ...notes(scan, encoding, mark, offset, total, opened.stat.size),
    ],
  }
  return { result, seen: seenIn(window.lines, cut, total) }
}

/** Feeds the file to window, count and version. Stops early only in a large file. */
async function scanFile(
  scan: Scan,
  opened: Opened,
  head: Buffer,
  mark: Mark | undefined,
  signal: AbortSignal | undefined,
) {
  const decoder = mark && mark.encoding !== 'utf-8' ? new TextDecoder(mark.encoding, { ignoreBOM: true }) : undefined
  const { size } = opened.stat
  const add = (raw: Buffer, skip: number) => {
    scan.position += raw.length
    if (Math.max(size, scan.position) <= CHANGE_BYTES_MAX) scan.version.add(raw)
    const body = skip > 0 ? raw.subarray(skip) : raw
    if (!decoder) scan.utf8.add(body)
    scan.window.feed(decoder ? Buffer.from(decoder.decode(body, { stream: true })) : body)
  }
  add(head, mark?.length ?? 0)
  // What is written while the file is read is not read, or there might be no end; some files of the system have no size.
  const end = size > 0 ? size : CHANGE_BYTES_MAX
  const pieceBytes = size > 0 ? Math.max(0, Math.min(PIECE_BYTES, end - scan.position)) : SIZELESS_PIECE_BYTES
  let [piece, other] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)]
  const readAt = (into: Buffer, at: number) => opened.file.read(into.subarray(0, Math.max(0, end - at)), at)
  // The next piece is read while one is looked at.
  let reading = readAt(piece, scan.position)
  for (;;) {
    // It is not waited for when the window is complete.
    reading.catch(() => undefined)
    if (Math.max(size, scan.position) > WHOLE_BYTES_MAX && scan.window.isComplete) break
    signal?.throwIfAborted()
    const count = await reading
    scan.reachedEnd = count === 0
    if (scan.reachedEnd) break
    reading = readAt(other, scan.position + count)
    add(piece.subarray(0, count), 0)
    ;[piece, other] = [other, piece]
  }
  if (decoder) scan.window.feed(Buffer.from(decoder.decode()))
  if (scan.reachedEnd) scan.utf8.finish()
  scan.window.finish()
}

function encodingOf(scan: Scan, head: Buffer, mark: Mark | undefined): string {
  if (mark && mark.encoding !== 'utf-8') return mark.encoding
  return scan.utf8.isUtf8 ? 'utf-8' : guessEncoding(head)
}

function decode(raw: readonly RawLine[], encoding: string): { lines: string[]; cut: RawLine[] } {
  const decoder = new TextDecoder(encoding.startsWith('utf-16') ? 'utf-8' : encoding, { ignoreBOM: true })
  const cut: RawLine[] = []
  const lines = raw.map((line) => {
    const text = decoder.decode(line.bytes).replaceAll('\0', NUL_SHOWN)
    if (line.size === line.bytes.length && text.length <= LINE_CHARACTERS_MAX) return text
    cut.push(line)
    const shown = text.slice(0, LINE_CHARACTERS_MAX)
    return shown.isWellFormed() ? shown : shown.slice(0, -1)
  })
  return { lines, cut }
}

function notes(
  scan: Scan,
  encoding: string,
  mark: Mark | undefined,
  offset: number,
  total: number | undefined,
  size: number,
): string[] {
  const { window, utf8 } = scan
  const next = offset + window.lines.length
  const all: string[] = []
  if (total === 0) all.push(readPrompts.empty)
  else if (total !== undefined && offset > total) all.push(readPrompts.beyond(offset, total))
  else if (window.linesSeen >= next || (!scan.reachedEnd && scan.position < size)) {
    all.push(readPrompts.more(next, total))
  }
  if (encoding !== 'utf-8') all.push(mark ? readPrompts.foreign(encoding) : readPrompts.guessed(encoding))
  else if (utf8.invalidBytes > 0) all.push(readPrompts.damaged(utf8.invalidBytes))
  if (window.lines.some((line) => line.bytes.includes(0))) all.push(readPrompts.nul)
  if (size > CHANGE_BYTES_MAX) all.push(readPrompts.tooLarge(CHANGE_BYTES_MAX))
  else if (!scan.reachedEnd) all.push(readPrompts.notToEnd(WHOLE_BYTES_MAX))
  return all
}

/** Ranges of lines shown in full; `undefined` when these are all lines of the file. */
function seenIn(
  lines: readonly RawLine[],
  cut: readonly RawLine[],
  total: number | undefined,
): LineRange[] | undefined {
  const hidden = new Set(cut.map((line) => line.number))
  const ranges: { from: number; to: number }[] = []
  for (const { number } of lines) {
    if (hidden.has(number)) continue
    const last = ranges.at(-1)
    if (last?.to === number - 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  if (total === 0) return undefined
  const only = ranges.length === 1 ? ranges[0] : undefined
  return only?.from === 1 && only.to === total ? undefined : ranges
}
