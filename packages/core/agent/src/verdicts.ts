/** Owns the questions a turn asks its plugins: every listener is asked and the strictest answer wins, whatever the order. */
import { type Clock, lossless, messageOf } from '@sluice/base'
import type { ContentPart, Session } from '@sluice/session'
import type { Context, Events } from 'cordis'
import { type Listener, listenersOf } from './listeners.ts'
import type { PromptVerdict, StopVerdict } from './types.ts'

interface Rules<V> {
  readonly base: V
  /** The verdict of a listener that gave none. */
  none(why: string): V
  /** A frozen copy, each field read once: whoever is handed it by `next()` cannot change it. `undefined` for anything else. */
  decode(value: unknown): V | undefined
  /** Joins an own verdict with that of the listeners after it. */
  join(own: V, others: V): V
  /** A verdict that no other can make stricter. */
  isFinal(verdict: V): boolean
}

export interface Asking {
  readonly ctx: Context
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly verdictMsMax: number
}

const promptRank = { accept: 0, replace: 1, block: 2 } as const

const promptRules: Rules<PromptVerdict> = {
  base: Object.freeze({ kind: 'accept' }),
  none: (why) => Object.freeze({ kind: 'block', reason: why }),
  decode: decodePrompt,
  isFinal: (verdict) => verdict.kind === 'block',
  join(own, others) {
    const stricter = promptRank[others.kind] > promptRank[own.kind] ? others : own
    if (stricter.kind === 'block') return stricter
    const contexts = [...new Set([...contextsOf(own), ...contextsOf(others)])]
    return contexts.length === 0 ? stricter : Object.freeze({ ...stricter, contexts: Object.freeze(contexts) })
  },
}

const stopRules: Rules<StopVerdict> = {
  base: Object.freeze({ kind: 'stop' }),
  none: () => Object.freeze({ kind: 'stop' }),
  decode: decodeStop,
  isFinal: () => false,
  // The base answer is what an abstaining listener passes on; a stop that a listener makes itself outranks a continue.
  join: (own, others) => (others.kind === 'stop' && others !== stopRules.base ? others : own),
}

function contextsOf(verdict: PromptVerdict): readonly string[] {
  return verdict.kind === 'block' ? [] : (verdict.contexts ?? [])
}

/** Asks `agent/submit-prompt`. A listener that throws, answers nonsense or takes too long blocks the prompt. */
export function askPrompt(
  asking: Asking,
  prompt: { agent: string; session: Session; content: readonly ContentPart[] },
): Promise<PromptVerdict> {
  return ask(asking, 'agent/submit-prompt', Object.freeze(prompt), promptRules)
}

/** Asks `agent/stop-turn`. Without a verdict the turn stops. */
export function askStop(
  asking: Asking,
  turn: { agent: string; session: Session; turn: number; continued: number },
): Promise<StopVerdict> {
  return ask(asking, 'agent/stop-turn', Object.freeze(turn), stopRules)
}

async function ask<V>(asking: Asking, event: keyof Events, subject: object, rules: Rules<V>): Promise<V> {
  const listeners = listenersOf(asking.ctx, event)
  if (listeners.length === 0) return rules.base
  const { signal, clock, verdictMsMax } = asking
  signal.throwIfAborted()
  let leave = () => {}
  const bound = new Promise<V>((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error)
    const cancel = clock.timer(verdictMsMax, () =>
      resolve(rules.none(`${event} gave no verdict in ${verdictMsMax} ms`)),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    leave = () => {
      cancel()
      signal.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([bound, joined(listeners, 0, event, subject, rules)])
  } finally {
    leave()
  }
}

/** The joined verdict of the listeners from `index` on; those after one that does not call `next()` are asked all the same. */
async function joined<V>(
  listeners: readonly Listener[],
  index: number,
  event: string,
  subject: object,
  rules: Rules<V>,
): Promise<V> {
  const listener = listeners[index]
  if (listener === undefined) return rules.base
  let others: Promise<V> | undefined
  let passed: V | undefined
  const next = () =>
    (others ??= joined(listeners, index + 1, event, subject, rules).then((verdict) => (passed = verdict)))
  let own: V
  try {
    if (!listener.mounted()) throw new Error('its plugin was unloaded')
    const answer = await listener.call(subject, next)
    if (passed !== undefined && answer === passed) return passed
    own = rules.decode(answer) ?? rules.none(`${event}: ${listener.plugin} gave no verdict`)
  } catch (error) {
    own = rules.none(`${event}: ${listener.plugin} failed: ${messageOf(error)}`)
  }
  if (rules.isFinal(own) && others === undefined) return own
  return rules.join(own, await next())
}

function decodePrompt(value: unknown): PromptVerdict | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, reason, content, contexts } = value as Record<string, unknown>
  if (kind === 'block') return typeof reason === 'string' && reason !== '' ? Object.freeze({ kind, reason }) : undefined
  const texts = contexts === undefined ? [] : lossless(contexts)
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return undefined
  const more = texts.length === 0 ? {} : { contexts: texts as readonly string[] }
  if (kind === 'accept') return Object.freeze({ kind, ...more })
  if (kind !== 'replace' || !Array.isArray(content)) return undefined
  return Object.freeze({ kind, content: lossless(content) as unknown as readonly ContentPart[], ...more })
}

function decodeStop(value: unknown): StopVerdict | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, reason } = value as Record<string, unknown>
  if (kind === 'stop') return Object.freeze({ kind })
  return kind === 'continue' && typeof reason === 'string' && reason !== ''
    ? Object.freeze({ kind, reason })
    : undefined
}
