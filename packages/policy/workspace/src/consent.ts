/** Owns whether a person agreed to one change, as the log of the session tells it. */
import type { Target } from '@sluice/fs'
import type { Session, SessionEvent } from '@sluice/session'

/** The rule an ask carries: it names the real path, so that consent to one file is none to another. */
export function consentRule(target: Pick<Target, 'path'>): string {
  return `workspace: change ${target.path}`
}

/** True when this call was asked for this file and a person allowed it. */
export function hasConsent(session: Session, callId: string, target: Target): boolean {
  const rule = consentRule(target)
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
