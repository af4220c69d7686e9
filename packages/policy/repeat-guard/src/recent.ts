/** Owns what a session has called lately, as a fold of its log. */
import { createHash } from 'node:crypto'
import { canonicalJson } from '@sluice/base'
import type { Fold, SessionEventMap, ToolCallData } from '@sluice/session'

/** How many calls are remembered. */
export const REMEMBERED_MAX = 64
/** The longest cycle that counts as a repetition. */
export const CYCLE_MAX = 3

/** The calls since the person last spoke, oldest first; equal digests are the same call. */
export type Recent = readonly { readonly callId: string; readonly digest: string }[]

export const recentCalls: Fold<Recent> = {
  name: 'repeat-guard/recent',
  version: 2,
  initial: [],
  step(recent, event) {
    if (event.type === 'user/message') {
      const { source } = event.data as unknown as SessionEventMap['user/message']
      return source === 'user' && recent.length > 0 ? [] : recent
    }
    if (event.type !== 'tool/call') return recent
    const { callId, tool, arguments: args, argumentsText } = event.data as unknown as ToolCallData
    const text = args ? canonicalJson(args) : argumentsText
    const digest = createHash('sha256').update(`${tool}\n${text}`).digest('base64')
    return [...recent.slice(1 - REMEMBERED_MAX), { callId, digest }]
  },
}

/** How often a call and those right before it repeat what came before, taking cycles of up to {@link CYCLE_MAX} calls as one.
 *  1 is no repetition. Calls of the same message that come after it do not count against it. */
export function repetitions(recent: Recent, callId: string): number {
  const at = recent.findIndex((call) => call.callId === callId)
  const last = at < 0 ? recent.length - 1 : at
  let most = 1
  for (let cycle = 1; cycle <= CYCLE_MAX; cycle++) {
    let same = 0
    for (let i = last; i >= cycle && recent[i]?.digest === recent[i - cycle]?.digest; i--) same++
    most = Math.max(most, Math.floor(same / cycle) + 1)
  }
  return most
}
