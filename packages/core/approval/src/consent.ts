/** Owns whether a person agreed to one call, as the log of the session tells it. */
import type { Session, SessionEvent } from '@sluice/session'

/** True when the last question about this call put an ask with this rule, and a person allowed it. */
export function hasConsent(session: Session, callId: string, rule: string): boolean {
  let isAllowed = false
  for (let i = session.events.length - 1; i >= 0; i--) {
    const event = session.events[i] as SessionEvent
    if (event.type === 'approval/decided') {
      const { data } = event as SessionEvent<'approval/decided'>
      if (data.callId === callId) isAllowed = data.decision === 'allowed-once'
    } else if (event.type === 'approval/asked') {
      const { data } = event as SessionEvent<'approval/asked'>
      if (data.callId === callId) return isAllowed && data.asks.some((ask) => ask.rule === rule)
    }
  }
  return false
}
