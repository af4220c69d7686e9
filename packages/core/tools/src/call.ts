/** Owns the frozen call that listeners see. */
import { disown, type JsonObject } from '@sluice/base'
import type { Card, Session } from '@sluice/session'
import type { AbortSource } from '@sluice/listeners'
import { callCard, genericCallCard } from './cards.ts'
import { type Annotations, annotationsOf, type Registered } from './definition.ts'
import type { CallState } from './state.ts'

/** Frozen. Nobody can change it. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly agent: string | undefined
  /** Id of the call whose body made this one; assigned by the executor. */
  readonly parent: string | undefined
  readonly session: Session
  readonly signal: AbortSignal
  readonly annotations: Annotations
  readonly aliases: readonly string[]
  /** Deadline that the definition asks for, in ms. */
  readonly timeoutMs: number | undefined
  /** `specifier(args)` of the definition. */
  readonly specifier: string | undefined
  readonly card: Card
}

type Fields = Pick<Call, 'args' | 'annotations' | 'aliases' | 'timeoutMs' | 'specifier' | 'card'>

/** Frozen with its prototype: neither fields nor the signal can be exchanged. */
class CallView implements Call {
  readonly id: string
  readonly tool: string
  readonly args: JsonObject
  readonly agent: string | undefined
  readonly parent: string | undefined
  readonly session: Session
  readonly annotations: Annotations
  readonly aliases: readonly string[]
  readonly timeoutMs: number | undefined
  readonly specifier: string | undefined
  readonly card: Card
  readonly #source: AbortSource

  constructor({ id, tool, agent, parent, session, source }: CallState['start'], fields: Fields) {
    this.id = id
    this.tool = tool
    this.args = fields.args
    this.agent = agent
    this.parent = parent?.start.id
    this.session = session
    this.annotations = fields.annotations
    this.aliases = fields.aliases
    this.timeoutMs = fields.timeoutMs
    this.specifier = fields.specifier
    this.card = fields.card
    this.#source = source
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#source.signal
  }
}
Object.freeze(CallView.prototype)

/** The call for `args`, with what the definition says of them. */
export function callOf({ start }: CallState, entry: Registered, args: JsonObject): Call {
  const { annotations, aliases, timeoutMs } = entry.info
  const specifier = specifierOf(entry, args)
  return new CallView(start, { args, annotations, aliases, timeoutMs, specifier, card: callCard(entry, args) })
}

const noArgs: JsonObject = Object.freeze({})
const noAliases: readonly string[] = Object.freeze([])
const noAnnotations = annotationsOf(undefined)

/** A call that was not admitted: it has no arguments, and no definition speaks for it. */
export function strangerOf({ start, given }: CallState): Call {
  const card = genericCallCard(start.tool, undefined, given.text)
  const fields = { args: noArgs, annotations: noAnnotations, aliases: noAliases, card }
  return new CallView(start, { ...fields, timeoutMs: undefined, specifier: undefined })
}

/** Without one, only rules for the whole tool can cover the call. */
function specifierOf({ definition, gone }: Registered, args: JsonObject): string | undefined {
  if (gone) return undefined
  try {
    const given: unknown = definition.specifier?.(args)
    if (typeof given === 'string') return given.toWellFormed()
    disown(given)
  } catch {
    // A definition that cannot say it has not said it.
  }
  return undefined
}
