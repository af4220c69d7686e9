/** Owns the joining of verdicts: the strictest given by any listener wins, whatever the order. */
import { type Json, type JsonObject, lossless, messageOf } from '@sluice/base'
import { ask, isPromise, type OwnTime } from './asking.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, type StageFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import { approvalNeeded } from './prompt.ts'
import type { Asked, CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Call, Offer, Verdict } from './types.ts'

const event = 'tools/pre-execute'
const rank = { abstain: 0, allow: 1, ask: 2, deny: 3 } as const
const abstain: Verdict = Object.freeze({ kind: 'abstain' })

/** A frozen copy of what a listener answered, each field read once.
 *  @throws TOOLS_BAD_ANSWER */
function decode(answer: unknown): Verdict {
  const bad = (problem: string) => toolsErrors('TOOLS_BAD_ANSWER', { event, problem })
  if (answer === null || typeof answer !== 'object')
    throw bad(`${typeof answer} is no verdict; return next() to abstain`)
  const { kind, reason, rule, offers, remedy } = answer as Record<string, unknown>
  if (kind === 'abstain') return abstain
  if (kind !== 'allow' && kind !== 'ask' && kind !== 'deny') throw bad(`the kind ${messageOf(kind)} is no verdict`)
  const why = typeof reason === 'string' && reason !== '' ? reason.toWellFormed() : undefined
  const more = typeof rule === 'string' ? { rule: rule.toWellFormed() } : {}
  if (kind === 'allow') return Object.freeze({ kind, ...(why !== undefined && { reason: why }), ...more })
  if (why === undefined) throw bad(`a verdict ${kind} without a reason`)
  if (kind === 'deny')
    return Object.freeze({ kind, reason: why, ...more, ...(typeof remedy === 'string' && { remedy }) })
  return Object.freeze({ kind, reason: why, ...more, ...(offers !== undefined && { offers: decodeOffers(offers) }) })
}

/** A copy that nobody can change: what a person is shown is what is stored. */
function decodeOffers(offers: unknown): readonly Offer[] {
  const bad = () => toolsErrors('TOOLS_BAD_ANSWER', { event, problem: 'offers are no list of { id, text }' })
  const list = lossless(offers)
  if (!Array.isArray(list)) throw bad()
  return (list as readonly Json[]).map((offer) => {
    const { id, text } = (offer ?? {}) as JsonObject
    if (typeof id !== 'string' || typeof text !== 'string') throw bad()
    return Object.freeze({ id, text })
  })
}

interface Given {
  readonly plugin: string
  readonly verdict: Verdict
  /** Its plugin is on `mayAllow`. */
  readonly trusted: boolean
}

/** One asking of all listeners about one call. */
class Joining {
  readonly asked: Asked[] = []
  /** By place of the listener. */
  private readonly said: (Given | undefined)[] = []
  failure: StageFailure | undefined
  private denied = false
  private readonly state: CallState
  private readonly call: Call
  private readonly listeners: readonly Listener[]
  private readonly tails: Promise<Verdict>[] = []

  constructor(state: CallState, listeners: readonly Listener[]) {
    this.state = state
    this.call = state.call as Call
    this.listeners = listeners
  }

  /** The verdicts that count, in dispatch order. */
  get given(): Given[] {
    return this.said.filter((given) => given !== undefined)
  }

  /** The joined verdict of all, once every listener that was entered has answered. */
  async all(): Promise<Verdict> {
    const verdict = await this.from(0)
    if (this.denied || this.failure) await Promise.all(this.tails)
    return verdict
  }

  /** The joined verdict of the listeners from `index` on; each is asked once, whoever wants to know. */
  from(index: number): Promise<Verdict> {
    return (this.tails[index] ??= this.askFrom(index))
  }

  private async askFrom(index: number): Promise<Verdict> {
    const listener = this.listeners[index]
    if (!listener || this.denied || this.failure) return abstain
    const slot = this.asked.push(listener.plugin) - 1
    let passed: Verdict | undefined
    let own: OwnTime | undefined
    try {
      const answer = ask(this.state, event, listener, { divert: true }, (time) => {
        own = time
        return listener.call(this.call, async () => {
          passed = await time.outside(this.from(index + 1))
          return passed
        })
      })
      const said = isPromise(answer) ? await answer : answer
      const verdict = said === passed && passed !== undefined ? abstain : decode(said)
      const counts = verdict.kind !== 'allow' || this.mayAllow(listener)
      this.note(slot, listener, verdict, counts, own)
      if (verdict.kind === 'deny') {
        this.denied = true
        return verdict
      }
      return stricter(counts ? verdict : abstain, await this.from(index + 1))
    } catch (error) {
      const failure = failureOf(error, listener.plugin)
      if (!this.denied) this.failure ??= failure
      this.asked[slot] = { plugin: listener.plugin, said: failure.detour, reason: failure.message, ms: own?.ms ?? 0 }
      return Object.freeze({ kind: 'deny', reason: `${listener.plugin} failed: ${failure.message}` })
    }
  }

  /** An allow of any other plugin is void. */
  private mayAllow({ known, name }: Listener): boolean {
    return known && this.state.machine.config.mayAllow.includes(name)
  }

  private note(slot: number, listener: Listener, verdict: Verdict, counts: boolean, own: OwnTime | undefined): void {
    if (verdict.kind === 'abstain') return
    const { reason, rule } = verdict
    this.asked[slot] = {
      plugin: listener.plugin,
      said: counts ? verdict.kind : `${verdict.kind} (void)`,
      ms: own?.ms ?? 0,
      ...(reason !== undefined && { reason }),
      ...(rule !== undefined && { rule }),
      ...('offers' in verdict && { offers: verdict.offers }),
    }
    if (counts && !this.denied) this.said[slot] = { plugin: listener.plugin, verdict, trusted: this.mayAllow(listener) }
  }
}

/** On a tie the first decides. */
function stricter(first: Verdict, second: Verdict): Verdict {
  return rank[second.kind] > rank[first.kind] ? second : first
}

export function preExecute(state: CallState): CallOutcome<'pre-execute'> | Promise<CallOutcome<'pre-execute'>> {
  if (policyMissing(state)) return 'deny'
  const listeners = state.machine.listeners.of(event, state.start.agent)
  return listeners.length === 0 ? otherwise(state) : joined(state, listeners)
}

/** Denies the call while a required policy is not active. */
export function policyMissing(state: CallState): boolean {
  const policies = state.machine.missing()
  if (policies.length === 0) return false
  const { code, message, remedy } = toolsErrors('TOOLS_POLICY_MISSING', { policies })
  state.deny({ by: policies.join(', '), reason: message, code, remedy })
  return true
}

async function joined(state: CallState, listeners: readonly Listener[]): Promise<CallOutcome<'pre-execute'>> {
  const joining = new Joining(state, listeners)
  state.detail.asked = joining.asked
  const { kind } = await joining.all()
  state.noteUnasked(listeners, joining.asked.length)
  if (joining.failure) throw joining.failure
  const first = joining.given.find((given) => given.verdict.kind === kind)
  if (!first) return otherwise(state)
  // A question lifts a default denial only when a plugin that may allow has spoken.
  const denied = kind === 'ask' && state.machine.config.otherwise === 'deny'
  if (denied && !joining.given.some(({ trusted }) => trusted)) return otherwise(state)
  state.detail.by = first.plugin
  switch (first.verdict.kind) {
    case 'abstain':
      return otherwise(state)
    case 'deny':
      state.denyBy(first.plugin, first.verdict)
      return 'deny'
    case 'allow':
      return 'allow'
    case 'ask':
      for (const { plugin, verdict: given } of joining.given)
        if (given.kind === 'ask') {
          const { reason, rule, offers } = given
          state.asks.push({ by: plugin, reason, ...(rule !== undefined && { rule }), ...(offers && { offers }) })
        }
      return 'ask'
  }
}

function otherwise(state: CallState): CallOutcome<'pre-execute'> {
  const { otherwise: answer } = state.machine.config
  state.detail.by = 'otherwise'
  if (answer === 'ask') state.asks.push({ by: 'otherwise', reason: approvalNeeded })
  if (answer === 'deny') state.deny({ by: 'otherwise', reason: approvalNeeded })
  return answer
}
