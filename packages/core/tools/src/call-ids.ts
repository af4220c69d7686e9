/** Owns which call ids and batch numbers a session has used. */
import type { Json } from '@sluice/base'
import type { Fold, SessionEvent, ToolCallData } from '@sluice/session'

interface Saved {
  /** Ids joined by spaces: one text, of which nothing is escaped, is read in a hundredth of the time that so many keys take. */
  readonly ids: string
  /** Ids that hold a space. */
  readonly others: readonly string[]
  readonly batches: number
}

/** Grows in place; it is only ever read through `session.fold`. */
export class UsedCallIds {
  /** Number that the next batch gets. */
  batches = 1
  /** The empty id is nobody's. */
  private readonly ids = new Set([''])
  /** Ids of a checkpoint, not looked at before somebody asks. */
  private saved: string | undefined

  has(id: string): boolean {
    return this.all().has(id)
  }

  add(id: string): void {
    this.ids.add(id)
  }

  save(): Json {
    const ids = [...this.all()]
    const others = ids.filter((id) => id.includes(' '))
    return { ids: ids.filter((id) => !id.includes(' ')).join(' '), others, batches: this.batches } satisfies Saved
  }

  static load(json: Json): UsedCallIds {
    const { ids, others, batches } = json as unknown as Saved
    const used = new UsedCallIds()
    used.saved = ids
    used.batches = batches
    for (const id of others) used.add(id)
    return used
  }

  private all(): ReadonlySet<string> {
    if (this.saved === undefined) return this.ids
    for (const known of this.saved.split(' ')) this.ids.add(known)
    this.saved = undefined
    return this.ids
  }
}

const nothing = new UsedCallIds()

export const usedCallIds: Fold<UsedCallIds> = {
  name: 'tools/call-ids',
  version: 3,
  initial: nothing,
  save: (used) => used.save(),
  load: (json) => UsedCallIds.load(json),
  step(state, event: SessionEvent) {
    if (event.type !== 'tool/call' && event.type !== 'tool/code-dispatch' && event.type !== 'tool/result') return state
    // The initial one is everybody's.
    const used = state === nothing ? new UsedCallIds() : state
    const { callId, batch } = event.data as unknown as ToolCallData
    // A call whose host died before it was taken up has a result alone.
    used.add(callId)
    if (event.type === 'tool/call') used.batches = Math.max(used.batches, batch + 1)
    return used
  },
}
