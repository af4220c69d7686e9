/** Owns the verdict on a change, from what the session has seen of the file. */
import {
  type EditIntent,
  type IntentVerdict,
  observationOf,
  observations,
  sameVersion,
  type WriteIntent,
} from '@sluice/fs'
import { readErrors } from './errors.ts'

/** An edit needs an observation. Where the file changed since, it must match exactly once: `ctx.fs` sees to that. */
export function editVerdict({ session, target, current }: EditIntent): IntentVerdict {
  const observation = observationOf(session.fold(observations), target, current)
  if (!observation) return deny('READ_BEFORE_EDIT_UNREAD')
  const { version } = observation
  return sameVersion(version, current) ? { kind: 'pass' } : { kind: 'pass', seen: version }
}

/** A write needs absence, or that the whole of the current version was seen. */
export function writeVerdict({ session, target, current }: WriteIntent): IntentVerdict {
  if (!current) return { kind: 'pass', precondition: { kind: 'absent' } }
  const observation = observationOf(session.fold(observations), target, current)
  if (!observation) return deny('READ_BEFORE_EDIT_UNREAD')
  if (!sameVersion(observation.version, current)) return deny('READ_BEFORE_EDIT_STALE')
  if (observation.seen !== 'whole') return deny('READ_BEFORE_EDIT_PARTIAL')
  return { kind: 'pass', precondition: { kind: 'version', version: current } }
}

function deny(code: keyof typeof readErrors.table): IntentVerdict {
  const { message, remedy } = readErrors(code, {})
  return { kind: 'deny', code, reason: message, remedy }
}
