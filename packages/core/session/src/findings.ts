/** Owns naming what is wrong with the events of a log. */
import type { SessionEvent } from './envelope.ts'
import { blobsNamedBy } from './named-blobs.ts'
import type { BlobState, LogFinding } from './store.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Findings of one kind of look that are kept one by one. */
export const FINDINGS_MAX = 1000

/** A bounded list, whose last finding tells how many there were more. */
export class Findings {
  private readonly kept: LogFinding[] = []
  private left = 0

  add(finding: LogFinding): void {
    if (this.kept.length < FINDINGS_MAX) this.kept.push(finding)
    else this.left++
  }

  /** Counts findings that were not even kept. */
  leave(count: number): void {
    this.left += count
  }

  /** In the order of their lines. */
  all(): readonly LogFinding[] {
    const { left } = this
    const kept = this.kept.toSorted((a, b) => a.line - b.line)
    const last = kept.at(-1)
    if (!last || left === 0) return kept
    return [...kept.slice(0, -1), { ...last, detail: `${last.detail}; ${left} more like these are not named` }]
  }
}

/** Events that can be worked with, and what is wrong with the others. One of an unknown type is shown all the same. */
export function sorted(
  vocabulary: Vocabulary,
  events: readonly SessionEvent[],
): { good: readonly SessionEvent[]; misfits: readonly LogFinding[] } {
  const misfits: LogFinding[] = []
  const good = events.filter((event) => {
    const finding = vocabulary.finding(event, event.seq + 1)
    if (finding) misfits.push(finding)
    return finding?.kind !== 'bad-event'
  })
  return { good, misfits }
}

/** Looks at the events of a log, one after the other, and then at the blobs that they name. */
export class Inspection {
  private readonly vocabulary: Vocabulary
  private readonly misfits = new Findings()
  /** Lines that first named a blob, by digest. */
  private readonly blobs = new Map<string, number>()

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
  }

  look(event: SessionEvent, line: number): void {
    const finding = this.vocabulary.finding(event, line)
    if (finding) this.misfits.add(finding)
    else for (const digest of blobsNamedBy(event)) if (!this.blobs.has(digest)) this.blobs.set(digest, line)
  }

  async found(stateOf: (digest: string) => Promise<BlobState | undefined>): Promise<readonly LogFinding[]> {
    const findings = new Findings()
    for (const [digest, line] of this.blobs) {
      const state = await stateOf(digest)
      if (state === 'missing') findings.add({ kind: 'missing-blob', line, detail: `the blob ${digest} is not there` })
      if (state === 'damaged') findings.add({ kind: 'bad-blob', line, detail: `the blob ${digest} holds other bytes` })
    }
    return [...this.misfits.all(), ...findings.all()]
  }
}
