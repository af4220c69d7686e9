/** Owns the expected failures of sessions and of the stores behind them. */
import { defineErrors } from '@sluice/base'

export const sessionErrors = defineErrors({
  SESSION_EVENT_INVALID: {
    when: 'the data of an event is not lossless JSON or does not fit the schema of its type',
    message: (d: { type: string; problems: readonly { path: string; problem: string }[] }) =>
      `${d.type}: ${d.problems.map((p) => `${p.path} ${p.problem}`).join('; ')}`,
    remedy: 'Give the data that the schema of this event type describes.',
  },
  SESSION_TYPE_UNKNOWN: {
    when: 'an event of a type that nobody has registered is appended',
    message: (d: { type: string }) => `no plugin has registered the event type ${d.type}`,
    remedy: 'Register the type with ctx.sessions.define before appending, or mount the plugin that owns it.',
  },
  SESSION_TYPE_TAKEN: {
    when: 'an event type is registered that another plugin owns',
    message: (d: { type: string; owner: string }) => `the event type ${d.type} belongs to ${d.owner}`,
    remedy: 'Name event types after your own package: area/noun-verbed.',
  },
  SESSION_READ_ONLY: {
    when: 'something is appended to a session that cannot be written',
    message: (d: { id: string; why: string }) => `session ${d.id} is read-only: ${d.why}`,
    remedy: 'Open the session for writing; a damaged one has to be repaired first.',
  },
  SESSION_NOT_DURABLE: {
    when: 'events could not be brought to disk',
    message: (d: { id: string; seq: number; problem: string }) =>
      `events up to ${d.seq} of session ${d.id} are not on disk: ${d.problem}`,
    remedy: 'Free the disk or restore access, then try again: nothing in memory is lost while the session is open.',
  },
  SESSION_NOT_FOUND: {
    when: 'there is no session with this id',
    message: (d: { id: string }) => `there is no session ${d.id}`,
    remedy: 'List the sessions and take an id from there.',
  },
  SESSION_EXISTS: {
    when: 'a session is created with an id that is taken',
    message: (d: { id: string }) => `there is already a session ${d.id}`,
    remedy: 'Leave the id out to get a fresh one, or open the existing session.',
  },
  SESSION_ID_INVALID: {
    when: 'a session id could not name a folder everywhere',
    message: (d: { id: string }) => `${JSON.stringify(d.id.slice(0, 80))} cannot be the id of a session`,
    remedy: 'Use 1 to 128 letters, digits, dots, dashes and underscores, not starting with a dot.',
  },
  SESSION_LOCKED: {
    when: 'a session is opened for writing while another writer holds it',
    message: (d: { id: string; pid: number; host: string }) =>
      `session ${d.id} is being written by process ${d.pid} on ${d.host}`,
    remedy:
      'End the other process, or open the session for reading. One on a host that is gone keeps it until `sluice session unlock`.',
  },
  SESSION_CHANGED: {
    when: 'a session is removed that has gone on since it was looked at',
    message: (d: { id: string }) => `session ${d.id} has gone on since it was looked at`,
    remedy: 'Look at it again; it is still there.',
  },
  SESSION_NEWER_FORMAT: {
    when: 'a log was written in a format that this version does not know',
    message: (d: { id: string; path: string; format: number }) =>
      `session ${d.id} has format ${d.format}, newer than this version reads: ${d.path}`,
    remedy: 'Update Sluice.',
  },
  SESSION_FORK_REFUSED: {
    when: 'a session has no point at which it can be forked',
    message: (d: { id: string; why: string }) => `session ${d.id} cannot be forked: ${d.why}`,
    remedy: 'Fork at or after the end of a turn; repair a damaged session first.',
  },
  SESSION_FOLD_NOT_KEPT: {
    when: 'a fold is asked of a session that was resumed from a checkpoint which does not hold it',
    message: (d: { id: string; fold: string }) => `session ${d.id} was resumed without the past that ${d.fold} needs`,
    remedy:
      'Register the fold with ctx.sessions.registerFold before the session is opened, or open it with { whole: true }.',
  },
  SESSION_BEYOND_REPAIR: {
    when: 'a damaged log lacks more events than repair may stand in for',
    message: (d: { id: string; lost: number; lostMax: number }) =>
      `session ${d.id} lacks ${d.lost} events, more than the ${d.lostMax} that repair may stand in for`,
    remedy: 'Export what is left of it, or go back to a backup.',
  },
  SESSION_NOT_A_LOG: {
    when: 'what stands in the place of a log is not one',
    message: (d: { id: string; path: string; detail: string }) =>
      `session ${d.id} has no readable log at ${d.path}: ${d.detail}`,
    remedy: 'Look at the file; restore it from a backup or delete the session.',
  },
})
