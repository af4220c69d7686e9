/** Owns the questions a turn asks its plugins: every listener is asked and the strictest answer wins, whatever the order. */
import { lossless } from '@sluice/base'
import {
  AbortSource,
  type Listener,
  type Listeners,
  type PluginFailure,
  Round,
  type TimeLimits,
} from '@sluice/listeners'
import type { ContentPart } from '@sluice/session'
import type { EventOf } from '@sluice/tools'
import type { agentEvents } from './emitted-events.ts'
import type { PromptVerdict, StoppingTurn, StopVerdict, SubmittedPrompt } from './types.ts'

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
  readonly listeners: Listeners
  readonly askLimits: TimeLimits
  readonly signal: AbortSignal
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
export function askPrompt(asking: Asking, prompt: SubmittedPrompt): Promise<PromptVerdict> {
  return ask(asking, 'agent/submit-prompt', Object.freeze(prompt), promptRules)
}

/** Asks `agent/stop-turn`. Without a verdict the turn stops. */
export function askStop(asking: Asking, turn: StoppingTurn): Promise<StopVerdict> {
  return ask(asking, 'agent/stop-turn', Object.freeze(turn), stopRules)
}

async function ask<V>(
  asking: Asking,
  event: EventOf<typeof agentEvents, 'waterfall'>,
  subject: { agent: string },
  rules: Rules<V>,
): Promise<V> {
  const listeners = asking.listeners.of(event, subject.agent)
  if (listeners.length === 0) return rules.base
  asking.signal.throwIfAborted()
  const source = new AbortSource(asking.signal)
  try {
    const question = new Question(listeners, asking.askLimits, source, subject, rules)
    const verdict = await question.all()
    asking.signal.throwIfAborted()
    return verdict
  } finally {
    source.close()
  }
}

class Question<V> extends Round<V> {
  private readonly subject: object
  private readonly rules: Rules<V>

  constructor(
    listeners: readonly Listener[],
    limits: TimeLimits,
    source: AbortSource,
    subject: object,
    rules: Rules<V>,
  ) {
    super(listeners, limits, source)
    this.subject = subject
    this.rules = rules
  }

  protected call(listener: Listener, next: () => V | Promise<V>): unknown {
    return listener.call(this.subject, next)
  }

  protected nothing(): V {
    return this.rules.base
  }

  protected take(answer: unknown, { name }: Listener): V {
    const verdict = this.rules.decode(answer) ?? this.rules.none(`${name} gave no verdict`)
    if (this.rules.isFinal(verdict)) this.over = true
    return verdict
  }

  protected join(own: V, later: V): V {
    return this.rules.join(own, later)
  }

  protected failed({ message }: PluginFailure, { name }: Listener): V {
    return this.rules.none(`${name} failed: ${message}`)
  }
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
