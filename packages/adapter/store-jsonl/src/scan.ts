/** Owns reading a log file: events, what is wrong with it, and where its good part ends. */
import type { DiskFile } from '@sluice/base'
import type { LogFinding, SessionEvent } from '@sluice/session'
import { decodeRecord, LF, Problem } from './record.ts'

const CHUNK_BYTES = 1 << 20
/** Findings that are kept one by one. */
const FINDINGS_MAX = 1000
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

interface Line {
  readonly number: number
  readonly problem: Problem
}

/** Walks the records of a file, keeping at most one chunk and one line in memory. */
class Scanner {
  private readonly onEvent: (event: SessionEvent, line: number) => void
  private readonly findings: LogFinding[] = []
  /** Bad lines with no good one after them yet: the torn tail, if the file ends here. */
  private pending: Line[] = []
  private line = 0
  private expected: number
  private badStart: string | undefined
  end: number

  constructor(
    from: { readonly offset: number; readonly seq: number },
    onEvent: (event: SessionEvent, line: number) => void,
  ) {
    this.onEvent = onEvent
    this.end = from.offset
    this.expected = from.seq
    this.line = from.seq
  }

  /** `after` is the offset of the byte after the line's LF. */
  take(bytes: Buffer, after: number): void {
    this.line++
    const record = decodeRecord(bytes)
    if (record instanceof Problem) {
      if (this.end === 0 && this.pending.length === 0) this.badStart = bytes.toString('utf8', 0, START_BYTES_MAX)
      if (this.pending.length < FINDINGS_MAX) this.pending.push({ number: this.line, problem: record })
      return
    }
    for (const { number, problem } of this.pending)
      this.found({ kind: problem.kind, line: number, detail: problem.detail })
    this.pending = []
    this.end = after
    this.place(record)
  }

  private place(event: SessionEvent): void {
    const { seq } = event
    const { expected, line } = this
    if (seq < expected) {
      const detail = `event ${seq} stands here a second time`
      this.found({ kind: 'duplicate-seq', line, detail })
      return
    }
    if (seq > expected) {
      const detail =
        seq === expected + 1 ? `event ${expected} is missing` : `events ${expected} to ${seq - 1} are missing`
      this.found({ kind: 'gap', line, detail })
    }
    this.expected = seq + 1
    this.onEvent(event, line)
  }

  private found(finding: LogFinding): void {
    if (this.findings.length < FINDINGS_MAX) this.findings.push(finding)
  }

  finish(size: number): Scan {
    const { end, findings, badStart } = this
    if (size > end) {
      const line = this.pending[0]?.number ?? this.line + 1
      findings.push({ kind: 'torn-tail', line, detail: `the last ${size - end} bytes are no whole record` })
    }
    return { findings, end, size, badStart }
  }
}

/** Damage in the middle: nothing may be appended before it is repaired. A torn tail is what a crash leaves, and is cut. */
export function isDamage({ kind }: LogFinding): boolean {
  return kind !== 'torn-tail'
}

/** Reads from `from` to the end of the file. */
export async function scanLog(
  file: DiskFile,
  onEvent: (event: SessionEvent, line: number) => void,
  from: { readonly offset: number; readonly seq: number } = { offset: 0, seq: 0 },
): Promise<Scan> {
  const scanner = new Scanner(from, onEvent)
  /** Pieces of a line that began in earlier chunks. */
  let carry: Buffer[] = []
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
      const piece = chunk.subarray(start, stop)
      scanner.take(carry.length === 0 ? piece : Buffer.concat([...carry, piece]), offset + stop + 1)
      carry = []
      start = stop + 1
    }
    if (start < read) carry.push(chunk.subarray(start))
    offset += read
  }
  return scanner.finish(offset)
}
