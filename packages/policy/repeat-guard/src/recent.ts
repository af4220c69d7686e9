/** Owns what a session has called lately, as a fold of its log. */
import { createHash } from 'node:crypto'
import type { Fold, SessionEventMap, ToolCallData } from '@sluice/session'

/** How many calls are remembered. */
export const REMEMBERED_MAX = 64
/** The longest cycle that counts as a repetition. */
export const CYCLE_MAX = 3

/** Digests of the calls since the person last spoke, oldest first. */
export type Recent = readonly string[]

export const recentCalls: Fold<Recent> = {
  name: 'repeat-guard/recent',
  version: 1,
  initial: [],
  step(recent, event) {
    if (event.type === 'user/message') {
      const { source } = event.data as unknown as SessionEventMap['user/message']
      return source === 'user' && recent.length > 0 ? [] : recent
    }
    if (event.type !== 'tool/call') return recent
    const { tool, argumentsText } = event.data as unknown as ToolCallData
    const digest = createHash('sha256').update(`${tool}\n${argumentsText}`).digest('base64')
    return [...recent.slice(1 - REMEMBERED_MAX), digest]
  },
}

/** How often the newest calls repeat the ones before, taking cycles of up to {@link CYCLE_MAX} calls as one. 1 is no repetition. */
export function repetitions(recent: Recent): number {
  let most = Math.min(1, recent.length)
  for (let cycle = 1; cycle <= CYCLE_MAX; cycle++) {
    let same = 0
    for (let i = recent.length - 1; i >= cycle && recent[i] === recent[i - cycle]; i--) same++
    most = Math.max(most, Math.floor(same / cycle) + 1)
  }
  return most
}
