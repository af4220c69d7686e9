/** Owns asking the listeners of an intent: all of them, strictest answer wins, a broken answer denies. */
import type { Context } from 'cordis'
import { assertNever, messageOf } from '@sluice/base'
import type { EditIntent, IntentVerdict, Precondition, Version, WriteIntent } from './types.ts'
import { sameVersion } from './versions.ts'

interface Intents {
  'fs/write-intent': WriteIntent
  'fs/edit-intent': EditIntent
}

type Listener<Intent> = (intent: Intent, next: () => Promise<IntentVerdict>) => unknown
type Deny = Extract<IntentVerdict, { kind: 'deny' }>

const pass: IntentVerdict = Object.freeze({ kind: 'pass' })

/** The joined verdict. A listener that does not call `next` hides nobody; after a deny nobody else is asked. */
export async function askIntent<Name extends keyof Intents>(
  ctx: Context,
  name: Name,
  intent: Intents[Name],
): Promise<IntentVerdict> {
  const hooks = [...(ctx.events._hooks[name] ?? [])].sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
  const ask = async (index: number): Promise<IntentVerdict> => {
    const hook = hooks[index]
    if (!hook) return pass
    let later: Promise<IntentVerdict> | undefined
    const next = () => (later ??= ask(index + 1))
    const own = await answerOf(hook.callback as Listener<Intents[Name]>, intent, next, hook.ctx.fiber.name)
    return own.kind === 'deny' ? own : join(own, await next())
  }
  return ask(0)
}

async function answerOf<Intent>(
  listener: Listener<Intent>,
  intent: Intent,
  next: () => Promise<IntentVerdict>,
  by: string,
): Promise<IntentVerdict> {
  try {
    return decode(await listener(intent, next)) ?? failed(by, 'gave an answer that is none')
  } catch (error) {
    return failed(by, `failed: ${messageOf(error)}`)
  }
}

function failed(by: string, what: string): Deny {
  return Object.freeze({
    kind: 'deny',
    code: 'FS_INTENT_FAILED',
    reason: `the plugin ${by}, which must be asked, ${what}`,
  })
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
    const reason = 'two plugins demand different states of the file'
    return Object.freeze({ kind: 'deny', code: 'FS_INTENT_CONFLICT', reason })
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
