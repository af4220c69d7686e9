/** Owns how granted rules are told in a session: given for good, and taken back. */
import type { SessionEventMap } from '@sluice/session'
import { pluginText, printable } from './printable.ts'

export function grantedText({ rule, by }: Readonly<SessionEventMap['permission/granted']>): string {
  return `always allowed from here on: ${printable(rule)} (by ${pluginText(by)})`
}

export function revokedText({ rule, by }: Readonly<SessionEventMap['permission/revoked']>): string {
  return `not allowed by itself any more: ${printable(rule)} (revoked by ${pluginText(by)})`
}
