/** Owns how calls that other calls make are shown: one line each, under the call that made them. */
import type { SessionEvent } from '@sluice/session'
import { CallTree } from './call-tree.ts'
import { settledText } from './card-text.ts'
import type { NestedResult } from './recorded-order.ts'

/** Calls inside one call that are shown; the log has all. */
export const NESTED_MAX = 20

/** The lines of calls inside one call of the model. */
export function nestedLines(inside: readonly NestedResult[]): string[] {
  const lines = inside.slice(0, NESTED_MAX).map(nestedText)
  const hidden = inside.length - NESTED_MAX
  return hidden > 0 ? [...lines, moreText(hidden)] : lines
}

/** The same while it happens. */
export class NestedCalls {
  private readonly tree = new CallTree()
  /** How many calls have settled, by root. */
  private readonly settled = new Map<string, number>()

  /** What to show of the event. */
  line(data: SessionEvent<'tool/code-dispatch'>['data']): string | undefined {
    const { root, depth } = this.tree.placeOf(data)
    const { result } = data
    if (!result) return undefined
    const count = (this.settled.get(root) ?? 0) + 1
    this.settled.set(root, count)
    return count > NESTED_MAX ? undefined : nestedText({ result, depth })
  }

  /** How many calls inside `root`, which is settled, were not shown, if any. */
  end(root: string): string | undefined {
    const hidden = (this.settled.get(root) ?? 0) - NESTED_MAX
    this.settled.delete(root)
    this.tree.end(root)
    return hidden > 0 ? moreText(hidden) : undefined
  }
}

/** What a call that succeeded brought is the business of the call that made it. */
function nestedText({ result, depth }: NestedResult): string {
  const lines = settledText(result).split('\n')
  const shown = result.outcome.tag === 'succeeded' ? lines.slice(0, 1) : lines
  return shown.map((line) => `${'  '.repeat(depth)}${line}`).join('\n')
}

function moreText(hidden: number): string {
  return `  … ${hidden} more ${hidden === 1 ? 'call' : 'calls'}`
}
