/** Owns how granted rules are told in a session: given for good, and taken back. */
import { grants } from '@sluice/permissions'
import type { SessionEvent, SessionEventMap } from '@sluice/session'
import { pluginText, printable } from './printable.ts'

export function grantedText({ rule, by }: Readonly<SessionEventMap['permission/granted']>): string {
  return `always allowed from here on: ${printable(rule)} (by ${pluginText(by)})`
}

export function revokedText({ rule, by }: Readonly<SessionEventMap['permission/revoked']>): string {
  return `not allowed by itself any more: ${printable(rule)} (revoked by ${pluginText(by)})`
}

/** Tells grants that count from what merely looks like one: shown all events in order, from a moment without open questions. */
export class GrantsTold {
  private state = grants.initial

  isTold(event: SessionEvent): boolean {
    const before = this.state
    this.state = grants.step(before, event)
    return event.type !== 'permission/granted' || this.state !== before
  }
}

/** The events without grants that no person has chosen. */
export function* withoutForged(events: Iterable<SessionEvent>): Generator<SessionEvent> {
  const told = new GrantsTold()
  for (const event of events) if (told.isTold(event)) yield event
}
