/** Owns asking the listeners of an intent: all of them, strictest answer wins, a broken answer denies. */
import type { Context } from 'cordis'
import { assertNever, messageOf } from '@sluice/base'
import type { EditIntent, IntentVerdict, Precondition, WriteIntent } from './types.ts'
import { sameVersion } from './versions.ts'

interface Intents {
  'fs/write-intent': WriteIntent
  'fs/edit-intent': EditIntent
}

type Listener<Intent> = (intent: Intent, next: () => Promise<IntentVerdict>) => unknown
type Deny = Extract<IntentVerdict, { kind: 'deny' }>

const pass: IntentVerdict = { kind: 'pass' }

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
    const answer = await listener(intent, next)
    if (isVerdict(answer)) return answer
    return failed(by, 'gave an answer that is none')
  } catch (error) {
    return failed(by, `failed: ${messageOf(error)}`)
  }
}

function failed(by: string, what: string): Deny {
  return { kind: 'deny', code: 'FS_INTENT_FAILED', reason: `the plugin ${by}, which must be asked, ${what}` }
}

function isVerdict(answer: unknown): answer is IntentVerdict {
  if (typeof answer !== 'object' || answer === null) return false
  const { kind, code, reason, precondition, seen } = answer as Record<string, unknown>
  if (kind === 'deny') return typeof code === 'string' && code !== '' && typeof reason === 'string' && reason !== ''
  return kind === 'pass' && isPrecondition(precondition) && (seen === undefined || isVersion(seen))
}

function isPrecondition(value: unknown): boolean {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null) return false
  const { kind, version } = value as Record<string, unknown>
  return kind === 'none' || kind === 'absent' || (kind === 'version' && isVersion(version))
}

function isVersion(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { digest, size } = value as Record<string, unknown>
  return typeof digest === 'string' && typeof size === 'number'
}

function join(own: IntentVerdict, later: IntentVerdict): IntentVerdict {
  if (own.kind === 'deny') return own
  if (later.kind === 'deny') return later
  const strict = [own.precondition, later.precondition].filter((each) => each !== undefined && each.kind !== 'none')
  const [first, second] = strict as Exclude<Precondition, { kind: 'none' }>[]
  if (first && second && !agree(first, second)) {
    return { kind: 'deny', code: 'FS_INTENT_CONFLICT', reason: 'two plugins demand different states of the file' }
  }
  const seen = own.seen ?? later.seen
  return { kind: 'pass', ...(first && { precondition: first }), ...(seen && { seen }) }
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
