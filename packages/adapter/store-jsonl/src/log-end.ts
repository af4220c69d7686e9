/** Owns telling how a log ends without reading what comes before. */
import type { DiskFile } from '@sluice/base'
import type { LogFinding, SessionEvent } from '@sluice/session'
import { readAll } from './disk.ts'
import { decodeRecord, LF, Problem } from './record.ts'
import { isDamage, scanLog } from './scan.ts'

/** Bytes before the known place that are looked at first; a longer record takes more. */
const END_BYTES = 16 << 10

/** A place up to which a log was whole when it was written, and the last event there. */
export interface Known {
  readonly offset: number
  readonly seq: number
}

interface LogEnd {
  /** The last event that opening the log shows. */
  readonly last: Pick<SessionEvent, 'seq' | 'at'> | undefined
  readonly damage: LogFinding | undefined
}

/** Reads what follows a known place, and a little of what comes before it. Where none is known, or the log is not what it was
 *  there, the whole log is read: records at the end alone may stand there a second time. */
export async function readEnd(file: DiskFile, known: Known | undefined): Promise<LogEnd> {
  const from = known && (await recordBefore(file, known))
  let last: LogEnd['last']
  const see = ({ seq, at }: SessionEvent) => {
    last = { seq, at }
  }
  let { findings } = await scanLog(file, { event: see }, from)
  // What is told of damage may depend on what stands further up.
  if (from && findings.some(isDamage)) ({ findings } = await scanLog(file, { event: see }))
  return { last, damage: findings.find(isDamage) }
}

/** The place of a record before the known one from which lines and numbers lead to it; `undefined` when they do not. */
async function recordBefore(file: DiskFile, { offset, seq }: Known): Promise<Known | undefined> {
  for (let length = END_BYTES; length < offset; length *= 2) {
    const bytes = await readAll(file, length, offset - length)
    const start = bytes.indexOf(LF) + 1
    const stop = bytes.indexOf(LF, start)
    if (stop < 0) continue
    const record = decodeRecord(bytes.subarray(start, stop))
    if (record instanceof Problem || record.seq + linesIn(bytes.subarray(start)) - 1 !== seq) return undefined
    return { offset: offset - length + start, seq: record.seq }
  }
  return undefined
}

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++
  return lines
}
