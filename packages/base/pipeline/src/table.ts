/** Owns the shape of a stage table, and the types that derive from one. */

/** How plugins take part in a stage. */
export interface Opening {
  readonly kind: 'waterfall' | 'notification' | 'guards' | 'service' | 'definition'
  /** Event, service or member name. */
  readonly name: string
}

/** A way to leave a stage that nobody chose: it always leads to the rescue stage. */
export type Detour = 'threw' | 'expired' | 'aborted'

export interface StageRow {
  /** One sentence. */
  readonly does: string
  readonly opened?: Opening
  /** Outcome → next stage. */
  readonly outcomes: { readonly [outcome: string]: string }
  /** Outcomes that a listener may give, where they differ from what the stage itself decides. */
  readonly answers?: readonly string[]
  readonly detours?: readonly Detour[]
  /** What a subject is that leaves by a throw or an expiry, in one word. */
  readonly failsAs?: string
  /** Events that the stage may write. */
  readonly writes?: readonly string[]
  /** Cards that the stage may show. */
  readonly shows?: readonly string[]
}

export interface StageTable {
  readonly name: string
  readonly start: string
  /** Name of the place after the last stage; no stage has it. */
  readonly end: string
  /** Where every detour leads; absent in a table without detours. */
  readonly rescue?: string
  readonly stages: { readonly [stage: string]: StageRow }
}

export type StageOf<T extends StageTable> = keyof T['stages'] & string
export type OutcomeOf<T extends StageTable, S extends StageOf<T>> = keyof T['stages'][S]['outcomes'] & string
export type AnswerOf<T extends StageTable, S extends StageOf<T>> = T['stages'][S] extends {
  readonly answers: readonly (infer A extends string)[]
}
  ? A
  : OutcomeOf<T, S>

/** The table itself, frozen deeply, with its literal types kept. */
export function defineTable<const T extends StageTable>(table: T): T {
  return frozen(table)
}

function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object') frozen(part as object)
  return Object.freeze(value)
}

/** Own rows only: a stage named `constructor` is no stage. */
export function rowOf(table: StageTable, stage: string): StageRow | undefined {
  return Object.hasOwn(table.stages, stage) ? table.stages[stage] : undefined
}

/** Where an outcome or detour leads, `undefined` when the row does not have it. */
export function nextOf(table: StageTable, stage: string, outcome: string): string | undefined {
  const row = rowOf(table, stage)
  if (!row) return undefined
  if (Object.hasOwn(row.outcomes, outcome)) return row.outcomes[outcome]
  return row.detours?.includes(outcome as Detour) ? table.rescue : undefined
}
