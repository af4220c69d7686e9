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

/** Puts a log of `events`, which have gaps or had damage between them, in place of the present one.
 *  @throws SESSION_BEYOND_REPAIR */
export async function rewrite(
  disk: Disk,
  id: string,
  layout: Layout,
  events: readonly SessionEvent[],
  findings: readonly LogFinding[],
): Promise<RepairedLog> {
  const lost = (events.at(-1)?.seq ?? -1) + 1 - events.length
  if (lost > LOST_MAX) throw sessionErrors('SESSION_BEYOND_REPAIR', { id, lost, lostMax: LOST_MAX })
  const text = whole(id, events).map((event) => encodeRecord(JSON.stringify(event)))
  const backup = await keep(disk, layout)
  await writeWhole(disk, layout.events, `${layout.events}.tmp`, Buffer.from(text.join('')))
  return { findings, lost, backup }
}

/** The events with one in each place where some are missing. */
function whole(id: string, events: readonly SessionEvent[]): SessionEvent[] {
  const filled: SessionEvent[] = []
  for (const event of events) {
    while (filled.length < event.seq) filled.push(standIn(id, filled.length, event.at))
    filled.push(event)
  }
  return filled
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
