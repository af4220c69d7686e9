/** Owns which rules a person has granted in a session, as its log tells it. */
import { type AskData, type Fold, foldSteps } from '@sluice/session'
import type { Call } from '@sluice/tools'
import { isExact } from './rules.ts'

export interface Grant {
  readonly rule: string
  /** The answerer by which the person chose it. */
  readonly by: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Grants {
  readonly granted: readonly Grant[]
  /** Chosen by a person and not granted yet, by the answer that chose it. */
  readonly chosen: readonly { readonly seq: number; readonly rule: string; readonly by: string }[]
  /** What open questions offer. */
  readonly offered: readonly { readonly seq: number; readonly rules: readonly string[] }[]
}

/** Where all policies abstain, the pipeline asks by this name; no plugin has it. */
const ASKER = 'otherwise'
const none: Grants = { granted: [], chosen: [], offered: [] }

/** A grant counts only as the one answer to a person's choice of that rule, from a question which offered it. */
const step = foldSteps<Grants>({
  // What was chosen and not granted before the crash is asked again.
  'session/resumed': ({ granted }) => ({ ...none, granted }),
  // It may have been the one that took a rule back.
  'session/lost': () => none,
  'approval/asked': (state, { seq, data: { asks } }) => {
    const rules = offeredIn(asks)
    return rules.length === 0 ? state : { ...state, offered: [...state.offered, { seq, rules }] }
  },
  'approval/decided': (state, { seq, cause, data: { decision, offer: rule, by } }) => {
    const question = state.offered.find((each) => each.seq === cause)
    if (!question) return state
    const offered = state.offered.filter((each) => each !== question)
    if (decision !== 'allowed-once' || rule === undefined || !question.rules.includes(rule))
      return { ...state, offered }
    return { ...state, offered, chosen: [...state.chosen, { seq, rule, by }] }
  },
  'permission/granted': (state, { at, cause, data }) => {
    const choice = state.chosen.find(({ seq, rule }) => seq === cause && rule === data.rule)
    if (!choice) return state
    const { rule, by } = choice
    const chosen = state.chosen.filter((each) => each !== choice)
    const isNew = !state.granted.some((grant) => grant.rule === rule)
    return { ...state, chosen, granted: isNew ? [...state.granted, { rule, by, at }] : state.granted }
  },
  'permission/revoked': (state, { data: { rule } }) => ({
    ...state,
    granted: state.granted.filter((grant) => grant.rule !== rule),
  }),
})

export const grants: Fold<Grants> = { name: 'permissions/grants', version: 2, initial: none, step }

/** Rules that a question offers where nobody else has decided. */
export function offeredIn(asks: readonly AskData[]): readonly string[] {
  return asks.flatMap(({ by, offers = [] }) => (by === ASKER ? offers.map(({ text }) => text) : []))
}

/** Longest rule that is offered: one that a person reads to its end. */
const RULE_CHARS_MAX = 400
/** What cannot be seen, or looks like something else: control characters, line ends, marks, spaces other than the plain one. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u

/** The rule that covers this call and no other; `undefined` where there is none, or none that a person can be shown as it is. */
export function exactRule({ tool, specifier }: Pick<Call, 'tool' | 'specifier'>): string | undefined {
  if (specifier === undefined || !isExact(specifier)) return undefined
  const rule = `${tool}(${specifier})`
  return rule.length > RULE_CHARS_MAX || UNSEEN.test(rule) ? undefined : rule
}
