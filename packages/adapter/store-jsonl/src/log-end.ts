/** Owns telling how a log ends without reading what comes before. */
import type { DiskFile } from '@sluice/base'
import type { LogFinding, SessionEvent } from '@sluice/session'
import { readAll } from './disk.ts'
import { decodeRecord, LF, Problem } from './record.ts'
import { isDamage, scanLog } from './scan.ts'

/** Bytes at the end that are looked at first; a longer last record takes more. */
const END_BYTES = 16 << 10

interface LogEnd {
  /** The last event that opening the log shows. */
  readonly last: Pick<SessionEvent, 'seq' | 'at'> | undefined
  readonly damage: LogFinding | undefined
  /** Events that were seen. */
  readonly count: number
}

/** Where the end is not as it should be, the whole log is read: only then is it certain which event is the last. One record
 *  alone says nothing of the kind: it may stand there a second time. */
export async function readEnd(file: DiskFile, size: number): Promise<LogEnd> {
  for (let length = END_BYTES; length < size; length *= 2) {
    const place = await firstRecord(file, size - length, length)
    if (place === 'damaged') break
    const end = place && (await endFrom(file, place))
    if (end?.damage) break
    if (end && end.count > 1) return end
  }
  return endFrom(file, { offset: 0, seq: 0 })
}

/** The first whole record in a piece of the file; `undefined` when none begins and ends there. */
async function firstRecord(file: DiskFile, from: number, length: number) {
  const bytes = await readAll(file, length, from)
  const start = bytes.indexOf(LF) + 1
  const stop = bytes.indexOf(LF, start)
  if (start === 0 || stop < 0) return undefined
  const record = decodeRecord(bytes.subarray(start, stop))
  return record instanceof Problem ? 'damaged' : { offset: from + start, seq: record.seq }
}

async function endFrom(file: DiskFile, from: { readonly offset: number; readonly seq: number }): Promise<LogEnd> {
  let last: LogEnd['last']
  let count = 0
  const { findings } = await scanLog(
    file,
    ({ seq, at }) => {
      last = { seq, at }
      count++
    },
    from,
  )
  return { last, damage: findings.find(isDamage), count }
}
