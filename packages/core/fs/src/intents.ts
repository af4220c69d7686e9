/** Owns asking the listeners of an intent: all of them, strictest answer wins, a broken answer denies. */
import type { EventOf } from '@sluice/tools'
import type { Context, Events } from 'cordis'
import { assertNever, type Clock } from '@sluice/base'
import { type Listener, Listeners, type PluginFailure, Round, type TimeLimits, watchdogOf } from '@sluice/listeners'
import type { fsEvents } from './emitted-events.ts'
import { intentPrompts } from './prompt.ts'
import type { EditIntent, IntentVerdict, Precondition, Version, WriteIntent } from './types.ts'
import { sameVersion } from './versions.ts'

type Deny = Extract<IntentVerdict, { kind: 'deny' }>

/** Time of one listener, without its waits in next(). */
export const INTENT_MS_MAX = 60_000

const pass: IntentVerdict = Object.freeze({ kind: 'pass' })

export class Intents {
  private readonly listeners: Listeners
  private readonly limits: TimeLimits

  constructor(ctx: Context, clock: Clock) {
    this.listeners = new Listeners(ctx)
    this.limits = { watchdog: watchdogOf(clock), msOf: () => INTENT_MS_MAX }
  }

  /** The joined verdict. A listener that does not call `next` hides nobody; after a deny nobody else is asked. */
  async ask<Name extends EventOf<typeof fsEvents>>(
    name: Name,
    intent: Parameters<Events[Name]>[0],
  ): Promise<IntentVerdict> {
    return new Question(this.listeners.of(name, undefined), this.limits, intent).all()
  }
}

class Question extends Round<IntentVerdict> {
  private readonly intent: WriteIntent | EditIntent

  constructor(listeners: readonly Listener[], limits: TimeLimits, intent: WriteIntent | EditIntent) {
    super(listeners, limits, undefined)
    this.intent = intent
  }

  protected call(listener: Listener, next: () => IntentVerdict | Promise<IntentVerdict>): unknown {
    return listener.call(this.intent, next)
  }

  protected nothing(): IntentVerdict {
    return pass
  }

  protected take(answer: unknown, { name }: Listener): IntentVerdict {
    const verdict = decode(answer) ?? failed(intentPrompts.noAnswer(name))
    if (verdict.kind === 'deny') this.over = true
    return verdict
  }

  protected join(own: IntentVerdict, later: IntentVerdict): IntentVerdict {
    return join(own, later)
  }

  protected failed({ message }: PluginFailure, { name }: Listener): IntentVerdict {
    return failed(intentPrompts.failed(name, message))
  }
}

function failed(reason: string): Deny {
  return Object.freeze({ kind: 'deny', code: 'FS_INTENT_FAILED', reason })
}

/** A frozen copy, each field read once: whoever is handed it by `next` cannot change it. `undefined` for anything else. */
function decode(answer: unknown): IntentVerdict | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  const { kind, code, reason, remedy, precondition: demand, seen } = answer as Record<string, unknown>
  if (kind === 'deny') {
    if (typeof code !== 'string' || code === '' || typeof reason !== 'string' || reason === '') return undefined
    return Object.freeze({ kind, code, reason, ...(typeof remedy === 'string' && { remedy }) })
  }
  const precondition = demand === undefined ? undefined : preconditionOf(demand)
  const version = seen === undefined ? undefined : versionOf(seen)
  if (kind !== 'pass' || (demand !== undefined && !precondition) || (seen !== undefined && !version)) return undefined
  return Object.freeze({ kind, ...(precondition && { precondition }), ...(version && { seen: version }) })
}

function preconditionOf(value: unknown): Precondition | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { kind, version: given } = value as Record<string, unknown>
  if (kind === 'none' || kind === 'absent') return Object.freeze({ kind })
  const version = kind === 'version' ? versionOf(given) : undefined
  return version && Object.freeze({ kind: 'version', version })
}

function versionOf(value: unknown): Version | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { digest, size } = value as Record<string, unknown>
  return typeof digest === 'string' && typeof size === 'number' ? Object.freeze({ digest, size }) : undefined
}

function join(own: IntentVerdict, later: IntentVerdict): IntentVerdict {
  if (own.kind === 'deny') return own
  if (later.kind === 'deny') return later
  const strict = [own.precondition, later.precondition].filter((each) => each !== undefined && each.kind !== 'none')
  const [first, second] = strict as Exclude<Precondition, { kind: 'none' }>[]
  if (first && second && !agree(first, second)) {
    return Object.freeze({ kind: 'deny', code: 'FS_INTENT_CONFLICT', reason: intentPrompts.conflict })
  }
  const seen = own.seen ?? later.seen
  return Object.freeze({ kind: 'pass', ...(first && { precondition: first }), ...(seen && { seen }) })
}

function agree(a: Precondition, b: Precondition): boolean {
  switch (a.kind) {
    case 'none':
    case 'absent':
      return a.kind === b.kind
    case 'version':
      return b.kind === 'version' && sameVersion(a.version, b.version)
    default:
      return assertNever(a)
  }
}
