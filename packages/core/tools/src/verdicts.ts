/** Owns the pre-execute stage: every listener is asked for a verdict, and the strictest wins, whatever the order. */
import { type Json, type JsonObject, lossless, messageOf, textOf } from '@sluice/base'
import { type Listener, type Limit, type PluginFailure, Round } from '@sluice/listeners'
import { toolsErrors } from './errors.ts'
import { approvalNeeded } from './prompt.ts'
import { policyMissing } from './guards.ts'
import type { AdmittedCall } from './state.ts'
import type { CallAnswer, CallOutcome } from './table.ts'

export interface AbstainVerdict {
  readonly kind: 'abstain'
  /** Lasting rules that would let the call pass: put to the person where a question comes of nobody deciding. Those of a
   *  plugin whose allow does not count are not. */
  readonly offers?: readonly Offer[]
}
export interface AllowVerdict {
  readonly kind: 'allow'
  readonly reason?: string
  readonly rule?: string
}
export interface AskVerdict {
  readonly kind: 'ask'
  readonly reason: string
  readonly rule?: string
  /** Lasting rules that the person may choose to store, with their exact text. */
  readonly offers?: readonly Offer[]
}
export interface DenyVerdict {
  readonly kind: 'deny'
  readonly reason: string
  readonly rule?: string
  /** Remedy for the model, shown after the reason. */
  readonly remedy?: string
}
interface VerdictShapes {
  readonly allow: AllowVerdict
  readonly ask: AskVerdict
  readonly deny: DenyVerdict
}
type Spoken = VerdictShapes[CallAnswer<'pre-execute'>]
/** What a listener of `tools/pre-execute` may say: to abstain, or an answer of the stage's row. */
export type Verdict = AbstainVerdict | Spoken

export interface Offer {
  readonly id: string
  /** The exact rule that would be stored. */
  readonly text: string
}

const event = 'tools/pre-execute'
const rank = { abstain: 0, allow: 1, ask: 2, deny: 3 } as const
const abstain: Verdict = Object.freeze({ kind: 'abstain' })

export function preExecute(state: AdmittedCall): CallOutcome<'pre-execute'> | Promise<CallOutcome<'pre-execute'>> {
  if (policyMissing(state)) return 'deny'
  const listeners = state.listenersOf(event)
  if (listeners.length === 0) return otherwise(state, [])
  const judging = new Judging(state, listeners)
  return judging.settled((verdict) => judged(judging, verdict))
}

function judged(judging: Judging, { kind }: Verdict): CallOutcome<'pre-execute'> {
  const { state } = judging
  state.noteUnasked(judging.listeners, judging.asked.length)
  if (judging.failure) throw judging.failure
  const given = judging.given.filter((each) => each !== undefined)
  const first = given.find(({ verdict }) => verdict.kind === kind)
  // A question lifts a default denial only when a plugin that may allow has spoken.
  const lifts = kind !== 'ask' || state.machine.config.otherwise !== 'deny' || given.some(({ trusted }) => trusted)
  if (!first || !lifts) return otherwise(state, judging.offers)
  state.detail.by = first.plugin
  if (first.verdict.kind === 'deny') state.deny(first.plugin, first.verdict)
  for (const { plugin: by, verdict } of given)
    if (verdict.kind === 'ask') {
      const { reason, rule, offers } = verdict
      state.asks.push({ by, reason, ...(rule !== undefined && { rule }), ...(offers && { offers }) })
    }
  return first.verdict.kind
}

function otherwise(state: AdmittedCall, offers: readonly Offer[]): CallOutcome<'pre-execute'> {
  const { otherwise: answer } = state.machine.config
  state.detail.by = 'otherwise'
  const more = offers.length > 0 && { offers }
  if (answer === 'ask') state.asks.push({ by: 'otherwise', reason: approvalNeeded, ...more })
  if (answer === 'deny') state.deny('otherwise', { reason: approvalNeeded })
  return answer
}

interface Given {
  readonly plugin: string
  readonly verdict: Spoken
  /** Its plugin is on `mayAllow`. */
  readonly trusted: boolean
}

class Judging extends Round<Verdict> {
  /** The verdicts that count, by place in dispatch order. */
  readonly given: (Given | undefined)[] = []
  /** Of plugins that may allow, and abstain. */
  readonly offers: Offer[] = []
  readonly state: AdmittedCall

  constructor(state: AdmittedCall, listeners: readonly Listener[]) {
    super(listeners, state.machine.limits, state.start.source)
    this.state = state
    state.detail.asked = this.asked
  }

  protected call(listener: Listener, next: () => Verdict | Promise<Verdict>): unknown {
    return listener.call(this.state.call, next)
  }

  protected nothing(): Verdict {
    return abstain
  }

  protected take(answer: unknown, { plugin, mountedAs }: Listener, slot: number, own: Limit): Verdict {
    const verdict = decode(answer)
    const trusted = mountedAs !== undefined && this.state.machine.config.mayAllow.includes(mountedAs)
    if (verdict.kind === 'abstain') {
      const { offers } = verdict
      if (!offers || !trusted) return abstain
      this.offers.push(...offers)
      this.asked[slot] = { plugin, said: 'abstain', ms: own.spentMs, offers }
      return abstain
    }
    const isVoid = verdict.kind === 'allow' && !trusted
    const { kind, reason, rule } = verdict
    this.asked[slot] = {
      plugin,
      said: isVoid ? `${kind} (void)` : kind,
      ms: own.spentMs,
      ...(reason !== undefined && { reason }),
      ...(rule !== undefined && { rule }),
      ...('offers' in verdict && { offers: verdict.offers }),
    }
    if (isVoid) return abstain
    if (!this.over) this.given[slot] = { plugin, verdict, trusted }
    if (kind === 'deny') this.over = true
    return verdict
  }

  /** On a tie the first decides. */
  protected join(own: Verdict, later: Verdict): Verdict {
    return rank[later.kind] > rank[own.kind] ? later : own
  }

  protected failed({ by, message }: PluginFailure): Verdict {
    return Object.freeze({ kind: 'deny', reason: `${by} failed: ${message}` })
  }
}

function bad(problem: string) {
  return toolsErrors('TOOLS_BAD_ANSWER', { event, problem })
}

/** A frozen copy of what a listener answered, each field read once.
 *  @throws TOOLS_BAD_ANSWER */
function decode(answer: unknown): Verdict {
  if (answer === null || typeof answer !== 'object')
    throw bad(`${typeof answer} is no verdict; return next() to abstain`)
  const { kind, reason: why, rule: by, offers, remedy: help } = answer as Record<string, unknown>
  const offered = () => offers !== undefined && { offers: decodeOffers(offers) }
  if (kind === 'abstain') return { kind, ...offered() }
  if (kind !== 'allow' && kind !== 'ask' && kind !== 'deny') throw bad(`the kind ${messageOf(kind)} is no verdict`)
  const reason = textOf(why)
  const rule = textOf(by)
  const more = { ...(rule !== undefined && { rule }) }
  if (kind === 'allow') return Object.freeze({ kind, ...(reason !== undefined && { reason }), ...more })
  if (reason === undefined) throw bad(`a verdict ${kind} without a reason`)
  if (kind === 'ask') return Object.freeze({ kind, reason, ...more, ...offered() })
  const remedy = textOf(help)
  return Object.freeze({ kind, reason, ...more, ...(remedy !== undefined && { remedy }) })
}

/** A copy that nobody can change, whoever is handed it by `next()`: what a person is shown is what is stored. */
function decodeOffers(offers: unknown): readonly Offer[] {
  const list = lossless(offers)
  const problem = 'offers are no list of { id, text }'
  if (!Array.isArray(list)) throw bad(problem)
  const plain = (list as readonly Json[]).map((offer) => {
    const { id, text } = (offer ?? {}) as JsonObject
    if (typeof id !== 'string' || typeof text !== 'string') throw bad(problem)
    return { id, text }
  })
  return lossless(plain) as unknown as readonly Offer[]
}
