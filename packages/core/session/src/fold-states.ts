/** Owns the states of folds over one list of events, each computed as far as somebody asked. */
import type { Json } from '@sluice/base'
import type { SessionEvent, Fold } from './types.ts'

interface Entry {
  state: unknown
  /** Index of the first event that is not in it. */
  next: number
}

export interface KeptFold {
  readonly name: string
  readonly version: number
  readonly state: Json
}

export class FoldStates {
  private readonly list: readonly SessionEvent[]
  /** States before the first event of the list; `undefined` when the list is the whole log. */
  private readonly kept: ReadonlyMap<string, KeptFold> | undefined
  private readonly entries = new Map<Fold<unknown>, Entry>()

  constructor(list: readonly SessionEvent[], kept: readonly KeptFold[] | undefined) {
    this.list = list
    this.kept = kept && new Map(kept.map((fold) => [fold.name, fold]))
  }

  /** `undefined` when the past that this fold needs is not there. */
  get<S>(fold: Fold<S>): { readonly state: S } | undefined {
    const entry = this.entries.get(fold as Fold<unknown>) ?? this.begin(fold as Fold<unknown>)
    if (!entry) return undefined
    const { list } = this
    let state = entry.state as S
    for (; entry.next < list.length; entry.next++) state = fold.step(state, list[entry.next] as SessionEvent)
    entry.state = state
    return { state }
  }

  private begin(fold: Fold<unknown>): Entry | undefined {
    const kept = this.kept?.get(fold.name)
    if (this.kept && kept?.version !== fold.version) return undefined
    const entry = { state: kept ? loaded(fold, kept.state) : fold.initial, next: 0 }
    this.entries.set(fold, entry)
    return entry
  }
}

function loaded(fold: Fold<unknown>, saved: Json): unknown {
  return fold.load ? fold.load(saved) : saved
}
