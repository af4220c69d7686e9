/** Owns making a damaged log whole: what is good stays, what is gone is named, what was is kept. */
import { dirname, join } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'
import { type LogFinding, type RepairedLog, type SessionEvent, sessionErrors } from '@sluice/session'
import { writeWhole } from './disk.ts'
import type { Layout } from './layout.ts'
import { encodeRecord } from './record.ts'

/** Lost events that repair stands in for; more of them mean that a number is wrong rather than that so much was lost. */
export const LOST_MAX = 10_000
const BACKUPS_MAX = 1_000
/** Of the new log, written at once. */
const PIECE_CHARACTERS = 1 << 20

/** Puts a log that goes up to `last`, of `events` and stand-ins for the others, in place of the present one.
 *  @throws SESSION_BEYOND_REPAIR, SESSION_NOT_A_LOG when nothing is left of it */
export async function rewrite(
  disk: Disk,
  id: string,
  layout: Layout,
  events: readonly SessionEvent[],
  last: number,
  findings: readonly LogFinding[],
): Promise<RepairedLog> {
  const lost = last + 1 - events.length
  if (lost > LOST_MAX) throw sessionErrors('SESSION_BEYOND_REPAIR', { id, lost, lostMax: LOST_MAX })
  if (events.length === 0)
    throw sessionErrors('SESSION_NOT_A_LOG', { id, path: layout.events, detail: 'none of its events can be kept' })
  const backup = await keep(disk, layout)
  await writeWhole(disk, layout.events, `${layout.events}.tmp`, pieces(whole(id, events, last)))
  return { findings, lost, backup }
}

/** Their lines, in pieces: a log may be longer than one text can be. */
function* pieces(events: Iterable<SessionEvent>): Generator<Uint8Array> {
  let text = ''
  for (const event of events) {
    text += encodeRecord(JSON.stringify(event))
    if (text.length < PIECE_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(text)
}

/** The events with one in each place where some are missing. */
function* whole(id: string, events: readonly SessionEvent[], last: number): Generator<SessionEvent> {
  let next = 0
  let at = events[0]?.at ?? 0
  for (const event of events) {
    while (next < event.seq) yield standIn(id, next++, at)
    yield event
    next = event.seq + 1
    at = event.at
  }
  while (next <= last) yield standIn(id, next++, at)
}

function standIn(id: string, seq: number, at: number): SessionEvent {
  if (seq === 0) return { seq, at, type: 'session/started', data: { format: 1, id, cwd: '' } }
  return { seq, at, type: 'session/lost', data: { detail: 'the log did not hold this event any more' } }
}

/** A second name for the present file, which is replaced next, not changed. */
async function keep(disk: Disk, layout: Layout): Promise<string> {
  for (let n = 1; n <= BACKUPS_MAX; n++) {
    const path = join(dirname(layout.events), `damaged-${n}.jsonl`)
    try {
      await disk.link(layout.events, path)
      return path
    } catch (error) {
      if (!isDiskError(error, 'EEXIST')) throw error
    }
  }
  throw new Error(`more than ${BACKUPS_MAX} damaged logs are kept in ${layout.dir}`)
}
