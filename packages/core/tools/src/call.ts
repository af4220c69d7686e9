/** Owns the frozen call that listeners see. */
import { disown, type JsonObject, Onto } from '@sluice/base'
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

/** Puts a signal on an object. The getter is the same for all: one for each would cost a hidden class for each. */
class Signalled extends Onto {
  readonly #source: AbortSource
  static readonly #property: PropertyDescriptor & ThisType<Signalled> = {
    enumerable: true,
    get() {
      return this.#source.signal
    },
  }

  constructor(on: object, source: AbortSource) {
    super(on)
    this.#source = source
    Object.defineProperty(on, 'signal', Signalled.#property)
  }
}

/** `fields`, frozen, with a signal that is made when it is asked for. A field all the same: a copy made by spreading has it. */
export function signalled<T extends object>(fields: T, source: AbortSource): T & { readonly signal: AbortSignal } {
  new Signalled(fields, source)
  return Object.freeze(fields) as T & { readonly signal: AbortSignal }
}

type FromDefinition = Pick<Call, 'args' | 'annotations' | 'aliases' | 'timeoutMs' | 'specifier' | 'card'>

function frozen({ id, tool, agent, parent, session, source }: CallState['start'], given: FromDefinition): Call {
  return signalled({ id, tool, agent, parent: parent?.start.id, session, ...given }, source)
}

/** The call for `args`, with what the definition says of them. */
export function callOf({ start }: CallState, entry: Registered, args: JsonObject): Call {
  const { annotations, aliases, timeoutMs } = entry.info
  const specifier = specifierOf(entry, args)
  return frozen(start, { args, annotations, aliases, timeoutMs, specifier, card: callCard(entry, args) })
}

const noArgs: JsonObject = Object.freeze({})
const noAliases: readonly string[] = Object.freeze([])
const noAnnotations = annotationsOf(undefined)

/** A call that was not admitted: it has no arguments, and no definition speaks for it. */
export function strangerOf({ start, given }: CallState): Call {
  const card = genericCallCard(start.tool, undefined, given.text)
  const fields = { args: noArgs, annotations: noAnnotations, aliases: noAliases, card }
  return frozen(start, { ...fields, timeoutMs: undefined, specifier: undefined })
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
