/** Owns nested calls: a capability of one run that makes ordinary calls with that run's call as parent. */
import { type Json, messageOf } from '@sluice/base'
import { AbortSource } from './abort.ts'
import type { RunState } from './body.ts'
import { usedCallIds } from './call-ids.ts'
import { textOf } from './cards.ts'
import { toolsErrors } from './errors.ts'
import { Slots } from './slots.ts'
import { CallState } from './state.ts'
import type { SettledCall } from './types.ts'

/** How many nested calls one call may make. */
export const NESTED_MAX = 10_000
/** How many calls may stand inside each other. */
export const DEPTH_MAX = 16

/** The nested calls of one run. */
export class Nest {
  private readonly outer: CallState
  private readonly source: AbortSource
  private readonly slots: Slots
  private readonly running = new Set<Promise<void>>()

  constructor(outer: CallState, source: AbortSource) {
    this.outer = outer
    this.source = new AbortSource(source)
    this.slots = new Slots(outer.start.slots.parallelism)
  }

  /** A failure that nobody looks at is no unhandled rejection: the log has it.
   *  @throws TOOLS_RUN_OVER, TOOLS_NESTED_LIMIT, TOOLS_NESTED_FAILED */
  call(tool: string, args: unknown, run: RunState): Promise<Json> {
    const value = this.make(String(tool).toWellFormed(), args, run)
    value.catch(() => {})
    return value
  }

  private async make(tool: string, args: unknown, run: RunState): Promise<Json> {
    if (run.over) throw toolsErrors('TOOLS_RUN_OVER', { tool })
    const state = this.stateOf(tool, args)
    const done = this.outer.machine.run(state)
    this.running.add(done)
    this.outer.place?.leave()
    await done
    this.running.delete(done)
    this.keepKeys(state)
    if (this.running.size === 0) await this.outer.place?.regain(this.source)
    const settled = state.settled as SettledCall
    run.contexts.push(...settled.result.contexts)
    if (settled.result.endTurn) run.ended = true
    return valueOf(settled)
  }

  /** @throws TOOLS_NESTED_LIMIT */
  private stateOf(tool: string, args: unknown): CallState {
    const { outer } = this
    const { start, body } = outer
    let depth = 1
    for (let above = start.parent; above; above = above.start.parent) depth++
    if (depth >= DEPTH_MAX)
      throw toolsErrors('TOOLS_NESTED_LIMIT', { tool, limit: `${DEPTH_MAX} calls inside each other` })
    if (body.nested >= NESTED_MAX)
      throw toolsErrors('TOOLS_NESTED_LIMIT', { tool, limit: `${NESTED_MAX} nested calls` })
    const { ids } = start.session.fold(usedCallIds)
    const index = body.nested++
    let id = `${start.id}.${index + 1}`
    while (Object.hasOwn(ids, id)) id += '.'
    return new CallState({
      ...start,
      id,
      originalId: undefined,
      tool,
      given: (args ?? {}) as Json,
      index,
      source: this.source,
      slots: this.slots,
      parent: outer,
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

  /** Cancels what runs and waits for it. */
  async closed(reason: string): Promise<void> {
    if (this.running.size > 0) {
      this.source.fire(reason)
      await Promise.allSettled(this.running)
    }
    this.source.close()
  }
}

function valueOf({ result }: SettledCall): Json {
  const { outcome, tool, value } = result
  if (outcome.tag === 'succeeded') return value === undefined ? null : value
  const code = 'code' in outcome && outcome.code !== undefined ? outcome.code : outcome.tag
  const reason = 'reason' in outcome ? outcome.reason : 'message' in outcome ? outcome.message : textOf(result.content)
  throw toolsErrors('TOOLS_NESTED_FAILED', { code, tool, reason: messageOf(reason), executed: outcome.executed })
}
