/** Owns the frozen call that listeners see. */
import type { JsonObject } from '@sluice/base'
import type { Card, Session } from '@sluice/session'
import type { AbortSource } from './abort.ts'
import type { Annotations, Call } from './types.ts'

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

  constructor(fields: Omit<Call, 'signal'>, source: AbortSource) {
    this.id = fields.id
    this.tool = fields.tool
    this.args = fields.args
    this.agent = fields.agent
    this.parent = fields.parent
    this.session = fields.session
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

export function viewOf(fields: Omit<Call, 'signal'>, source: AbortSource): Call {
  return new CallView(fields, source)
}
