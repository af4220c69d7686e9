/** Owns how calls that other calls make are shown: one line each, under the call that made them. */
import type { SessionEvent } from '@sluice/session'
import { settledText } from './card-text.ts'

/** Calls inside one call that are shown; the log has all. */
export const NESTED_MAX = 20

interface Place {
  /** The call of the model that it belongs to. */
  readonly root: string
  readonly depth: number
}

export class NestedCalls {
  private readonly places = new Map<string, Place>()
  /** How many calls have settled, by root. */
  private readonly settled = new Map<string, number>()

  /** What to show of the event, and under which call of the model. */
  line({ callId, parent, phase, result }: SessionEvent<'tool/code-dispatch'>['data']) {
    const above = this.places.get(parent) ?? { root: parent, depth: 0 }
    const { root, depth } = { root: above.root, depth: above.depth + 1 }
    if (phase === 'start') this.places.set(callId, { root, depth })
    if (phase === 'start' || !result) return undefined
    const count = (this.settled.get(root) ?? 0) + 1
    this.settled.set(root, count)
    if (count > NESTED_MAX) return undefined
    // What a call that succeeded brought is the business of the call that made it.
    const lines = settledText(result).split('\n')
    const shown = result.outcome.tag === 'succeeded' ? lines.slice(0, 1) : lines
    return { root, text: shown.map((line) => `${'  '.repeat(depth)}${line}`).join('\n') }
  }

  /** How many calls inside `root`, which is settled, were not shown, if any. */
  end(root: string): string | undefined {
    const hidden = (this.settled.get(root) ?? 0) - NESTED_MAX
    this.settled.delete(root)
    for (const [callId, place] of this.places) if (place.root === root) this.places.delete(callId)
    return hidden > 0 ? `  … ${hidden} more ${hidden === 1 ? 'call' : 'calls'}` : undefined
  }
}
