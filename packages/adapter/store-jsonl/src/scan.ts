/** Owns reading a log file: events, what is wrong with it, and where its good part ends. */
import type { DiskFile } from '@sluice/base'
import { Findings, type LogFinding, type SessionEvent } from '@sluice/session'
import { Holes } from './holes.ts'
import { decodeRecord, LF, Problem } from './record.ts'
import { BACKLOG_MAX } from './writer.ts'

const CHUNK_BYTES = 1 << 20
const CR = 0x0d
/** Bad lines kept one by one until it is known whether the log goes on after them. */
const PENDING_MAX = 1000
/** No record is longer: so many characters are never waiting, and none takes more bytes. */
export const LINE_BYTES_MAX = 3 * BACKLOG_MAX
/** Of a bad first line. */
const START_BYTES_MAX = 64 << 10

export interface Scan {
  readonly findings: readonly LogFinding[]
  /** Byte after the last good record: where writing goes on. */
  readonly end: number
  /** Bytes of the file. */
  readonly size: number
  /** First line, when it is not a good record: it may tell of a newer format. */
  readonly badStart: string | undefined
}

/** What is shown of a log. */
export interface Visit {
  /** In the order of their numbers. */
  readonly event: (event: SessionEvent, line: number) => void
  /** Of those that stand after one with a higher number, and nowhere before. */
  readonly late?: (event: SessionEvent) => void
}

interface Line {
  readonly number: number
  readonly problem: Problem
}

/** Walks the records of a file, keeping at most one chunk and one line in memory. */
class Scanner {
  private readonly visit: Visit
  private readonly findings = new Findings()
  private readonly holes = new Holes()
  /** Line at which a run of lines that end in CR LF begins, up to the present one. */
  private crlfFrom: number | undefined
  /** Bad lines with no good one after them yet: the torn tail, if the file ends here. */
  private pending: Line[] = []
  private pendingMore = 0
  private line = 0
  private expected: number
  private badStart: string | undefined
  end: number

  constructor(from: { readonly offset: number; readonly seq: number }, visit: Visit) {
    this.visit = visit
    this.end = from.offset
    this.expected = from.seq
    this.line = from.seq
  }

  /** `after` is the offset of the byte after the line's LF. */
  take(bytes: Buffer, after: number): void {
    const isCrlf = bytes[bytes.length - 1] === CR
    const record = decodeRecord(isCrlf ? bytes.subarray(0, -1) : bytes)
    if (record instanceof Problem) return this.takeBad(record, bytes)
    if (!isCrlf) this.endCrlf()
    this.line++
    if (isCrlf) this.crlfFrom ??= this.line
    for (const { number, problem } of this.pending)
      this.findings.add({ kind: problem.kind, line: number, detail: problem.detail })
    this.findings.leave(this.pendingMore)
    this.pending = []
    this.pendingMore = 0
    this.end = after
    this.place(record)
  }

  takeBad(problem: Problem, start: Buffer): void {
    this.endCrlf()
    this.line++
    if (this.line === 1) this.badStart = start.toString('utf8', 0, START_BYTES_MAX)
    if (this.pending.length < PENDING_MAX) this.pending.push({ number: this.line, problem })
    else this.pendingMore++
  }

  private endCrlf(): void {
    const { crlfFrom: from, line } = this
    if (from === undefined) return
    const detail = from === line ? 'the line ends in CR LF' : `lines ${from} to ${line} end in CR LF`
    this.findings.add({ kind: 'line-end', line: from, detail })
    this.crlfFrom = undefined
  }

  private place(event: SessionEvent): void {
    const { seq } = event
    const { expected, line } = this
    if (seq < expected) {
      if (!this.holes.fill(seq)) {
        this.findings.add({ kind: 'duplicate-seq', line, detail: `event ${seq} stands here a second time` })
        return
      }
      const detail = `event ${seq} stands here, after event ${expected - 1}`
      this.findings.add({ kind: 'misplaced', line, detail })
      this.visit.late?.(event)
      return
    }
    if (seq > expected) this.holes.add(expected, seq - 1, line)
    this.expected = seq + 1
    this.visit.event(event, line)
  }

  finish(size: number): Scan {
    const { end, badStart } = this
    this.endCrlf()
    // Only now it is known what does not come later.
    this.holes.tell(this.findings)
    const findings = this.findings.all()
    if (size <= end) return { findings, end, size, badStart }
    const line = this.pending[0]?.number ?? this.line + 1
    const detail = `the last ${size - end} bytes are no whole record`
    return { findings: [...findings, { kind: 'torn-tail', line, detail }], end, size, badStart }
  }
}

/** A line that comes in pieces; keeps no more than a record can have. */
class Pieces {
  private kept: Buffer[] = []
  private bytes = 0

  add(piece: Buffer): void {
    this.bytes += piece.length
    // The beginning stays: it may tell of a newer format.
    if (this.bytes <= LINE_BYTES_MAX) this.kept.push(piece)
    else this.kept.length = 1
  }

  /** Hands the line that `last` ends to the scanner. */
  end(last: Buffer, after: number, scanner: Scanner): void {
    const { kept, bytes } = this
    this.kept = []
    this.bytes = 0
    if (bytes === 0) scanner.take(last, after)
    else if (bytes + last.length <= LINE_BYTES_MAX) scanner.take(Buffer.concat([...kept, last]), after)
    else scanner.takeBad(new Problem('bad-json', 'the line is longer than any record'), kept[0] ?? last)
  }
}

/** Damage in the middle: nothing may be appended before it is repaired. A torn tail is what a crash leaves, and is cut. */
export function isDamage({ kind }: LogFinding): boolean {
  return kind !== 'torn-tail'
}

/** Reads from `from` to the end of the file. */
export async function scanLog(
  file: DiskFile,
  visit: Visit,
  from: { readonly offset: number; readonly seq: number } = { offset: 0, seq: 0 },
): Promise<Scan> {
  const scanner = new Scanner(from, visit)
  const pieces = new Pieces()
  let offset = from.offset
  const { size } = await file.stat()
  for (;;) {
    // One byte more than is expected, so that the end is seen at once in most cases.
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(0, size - offset) + 1))
    const read = await file.read(buffer, offset)
    if (read === 0) break
    const chunk = buffer.subarray(0, read)
    let start = 0
    for (let stop = chunk.indexOf(LF); stop >= 0; stop = chunk.indexOf(LF, start)) {
      pieces.end(chunk.subarray(start, stop), offset + stop + 1, scanner)
      start = stop + 1
    }
    if (start < read) pieces.add(chunk.subarray(start))
    offset += read
  }
  return scanner.finish(offset)
}
