/** Owns which numbers a log has left out so far, and so whether an event that comes late is missed. */
import type { Findings } from '@sluice/session'

/** As many as findings are named; what belongs into a further one counts as standing there a second time. */
const HOLES_MAX = 1000

interface Hole {
  readonly first: number
  readonly last: number
  /** Line that stands after it. */
  readonly line: number
}

export class Holes {
  /** In the order of their numbers. */
  private readonly kept: Hole[] = []
  private more = 0

  /** `first` is higher than in any before. */
  add(first: number, last: number, line: number): void {
    if (this.kept.length < HOLES_MAX) this.kept.push({ first, last, line })
    else this.more++
  }

  /** Whether `seq` was missing; then it is not any more. */
  fill(seq: number): boolean {
    const at = this.kept.findIndex(({ last }) => last >= seq)
    const hole = this.kept[at]
    if (!hole || hole.first > seq) return false
    const before = { ...hole, last: seq - 1 }
    const after = { ...hole, first: seq + 1 }
    this.kept.splice(at, 1, ...[before, after].filter(({ first, last }) => first <= last))
    return true
  }

  tell(findings: Findings): void {
    for (const { first, last, line } of this.kept) {
      const detail = first === last ? `event ${first} is missing` : `events ${first} to ${last} are missing`
      findings.add({ kind: 'gap', line, detail })
    }
    findings.leave(this.more)
  }
}
