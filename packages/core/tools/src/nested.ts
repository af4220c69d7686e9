/** Owns nested calls: a capability of one run that makes ordinary calls with that run's call as parent. */
import { type Json, messageOf } from '@sluice/base'
import { AbortSource } from '@sluice/listeners'
import type { Said } from './body.ts'
import { usedCallIds } from './call-ids.ts'
import { flatten } from './content.ts'
import { toolsErrors } from './errors.ts'
import type { ToolResult } from './outcome.ts'
import { Slots } from './slots.ts'
import { type AdmittedCall, CallState } from './state.ts'
import type { SettledCall } from './types.ts'

/** How many nested calls one call may make. */
const NESTED_MAX = 10_000
/** How many calls may stand inside each other. */
const DEPTH_MAX = 16

/** The nested calls of one run. */
export class Nest {
  private readonly outer: AdmittedCall
  private readonly source: AbortSource
  private readonly said: Said
  private readonly slots: Slots
  private readonly running = new Set<Promise<SettledCall>>()

  constructor(outer: AdmittedCall, source: AbortSource, said: Said) {
    this.outer = outer
    this.source = new AbortSource(source)
    this.said = said
    this.slots = new Slots(outer.start.slots.parallelism, outer.slot)
  }

  /** A failure that nobody looks at is no unhandled rejection: the log has it.
   *  @throws TOOLS_RUN_OVER, TOOLS_NESTED_LIMIT, TOOLS_NESTED_FAILED */
  call(tool: string, args: unknown): Promise<Json> {
    const value = this.make(String(tool).toWellFormed(), args)
    value.catch(() => {})
    return value
  }

  private async make(tool: string, args: unknown): Promise<Json> {
    if (this.said.over) throw toolsErrors('TOOLS_RUN_OVER', { tool })
    const state = this.stateOf(tool, args)
    const done = this.outer.machine.run(state)
    this.running.add(done)
    const { result } = await done
    this.running.delete(done)
    this.keepKeys(state)
    this.said.contexts.push(...result.contexts)
    if (result.endTurn) this.said.ended = true
    return valueOf(result)
  }

  /** @throws TOOLS_NESTED_LIMIT */
  private stateOf(tool: string, args: unknown): CallState {
    const { start, body } = this.outer
    let depth = 1
    for (let above = start.parent; above; above = above.start.parent) depth++
    if (depth >= DEPTH_MAX)
      throw toolsErrors('TOOLS_NESTED_LIMIT', { tool, limit: `${DEPTH_MAX} calls inside each other` })
    if (body.nested >= NESTED_MAX)
      throw toolsErrors('TOOLS_NESTED_LIMIT', { tool, limit: `${NESTED_MAX} nested calls` })
    const used = start.session.fold(usedCallIds)
    const index = body.nested++
    let id = `${start.id}.${index + 1}`
    while (used.has(id)) id += '.'
    return new CallState({
      ...start,
      id,
      originalId: undefined,
      tool,
      given: (args ?? {}) as Json,
      index,
      source: this.source,
      slots: this.slots,
      parent: this.outer,
      cutOff: undefined,
      gate: undefined,
    })
  }

  /** What an abandoned nested body may still touch is covered by the keys of the outer call: they stay taken as long. */
  private keepKeys(nested: CallState): void {
    if (!nested.lingers) return
    const { outer } = this
    outer.body.left++
    nested.whenBodiesEnd(() => {
      outer.body.left--
      outer.bodyEnded()
    })
  }

  /** Cancels what runs; a promise only when there is something to wait for. */
  closed(reason: string): Promise<unknown> | undefined {
    const { running, source } = this
    if (running.size > 0) {
      source.fire(reason)
      return Promise.allSettled(running).then(() => source.close())
    }
    source.close()
    return undefined
  }
}

function valueOf({ outcome, tool, value, content }: ToolResult): Json {
  if (outcome.tag === 'succeeded') return value === undefined ? null : value
  const code = 'code' in outcome && outcome.code !== undefined ? outcome.code : outcome.tag
  const reason = 'reason' in outcome ? outcome.reason : 'message' in outcome ? outcome.message : flatten(content)
  throw toolsErrors('TOOLS_NESTED_FAILED', { code, tool, reason: messageOf(reason), executed: outcome.executed })
}
