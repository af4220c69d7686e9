/** Owns where a session can be forked, and what the child begins with. */
import { sessionErrors } from './errors.ts'
import type { LogFinding, SessionEvent, SessionLog } from './types.ts'

/** Characters of a past that are handed on before they have to be on disk: a store takes only so much in memory. */
const UNSYNCED_CHARACTERS_MAX = 8 << 20

/** Writes the past of a child to its log. One that is short appears as a whole. */
export async function handOn(log: SessionLog, events: readonly SessionEvent[]): Promise<void> {
  let unsynced = 0
  for (const event of events) {
    const { length } = JSON.stringify(event.data)
    if (unsynced > 0 && unsynced + length > UNSYNCED_CHARACTERS_MAX) {
      await log.durable(event.seq - 1)
      unsynced = 0
    }
    log.write(event)
    unsynced += length
  }
}

/** Events after `session/started` that a child shares with its parent: up to the last end of a turn at or before `seq`.
 *  @throws SESSION_FORK_REFUSED */
export function sharedPast(
  id: string,
  events: readonly SessionEvent[],
  findings: readonly LogFinding[],
  seq = Number.POSITIVE_INFINITY,
): readonly SessionEvent[] {
  const damage = findings.find((finding) => finding.kind !== 'torn-tail')
  if (damage) throw sessionErrors('SESSION_FORK_REFUSED', { id, why: `its log is damaged at line ${damage.line}` })
  const end = events.findLastIndex((event) => event.type === 'turn/ended' && event.seq <= seq)
  if (end < 0) throw sessionErrors('SESSION_FORK_REFUSED', { id, why: 'no turn has ended before that point' })
  return events.slice(1, end + 1)
}

/** What the parent took back after that past, as the next events of the child: a fork brings no right back. */
export function takenBack(events: readonly SessionEvent[], past: readonly SessionEvent[]): readonly SessionEvent[] {
  const next = past.length + 1
  return events
    .slice(next)
    .filter(({ type }) => type === 'permission/revoked')
    .map(({ at, type, data }, index) => Object.freeze({ seq: next + index, at, type, data }))
}
