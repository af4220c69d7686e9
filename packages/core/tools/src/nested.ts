/** Owns nested calls: a capability of one run that makes ordinary calls with that run's call as parent. */
import { type Json, messageOf } from '@sluice/base'
import { AbortSource } from './abort.ts'
import type { RunState } from './body.ts'
import { textOf } from './cards.ts'
import { toolsErrors } from './errors.ts'
import { Slots } from './slots.ts'
import { CallState } from './state.ts'
import type { SettledCall } from './types.ts'

/** How many nested calls one run may make. */
export const NESTED_MAX = 100_000

/** The nested calls of one run. */
export class Nest {
  private readonly outer: CallState
  private readonly source: AbortSource
  private readonly slots: Slots
  private readonly running = new Set<Promise<void>>()
  private count = 0

  constructor(outer: CallState, source: AbortSource) {
    this.outer = outer
    this.source = new AbortSource(source)
    this.slots = new Slots(outer.start.slots.parallelism)
  }

  /** A failure that nobody looks at is no unhandled rejection: the log has it.
   *  @throws TOOLS_RUN_OVER, TOOLS_NESTED_FAILED */
  call(tool: string, args: unknown, run: RunState): Promise<Json> {
    const value = this.make(tool, args, run)
    value.catch(() => {})
    return value
  }

  private async make(tool: string, args: unknown, run: RunState): Promise<Json> {
    if (run.over || this.source.aborted || this.count >= NESTED_MAX)
      throw toolsErrors('TOOLS_RUN_OVER', { tool: String(tool) })
    const { start } = this.outer
    const state = new CallState({
      ...start,
      id: `${start.id}.${++this.count}`,
      originalId: undefined,
      tool: String(tool),
      given: args as Json,
      index: this.count - 1,
      source: this.source,
      slots: this.slots,
      parent: this.outer,
      cutOff: undefined,
      gate: undefined,
    })
    const done = this.outer.machine.run(state)
    this.running.add(done)
    this.outer.uncount?.(this.running.size)
    try {
      await done
    } finally {
      this.running.delete(done)
      this.outer.uncount?.(this.running.size)
    }
    const settled = state.settled as SettledCall
    run.contexts.push(...settled.result.contexts)
    if (settled.result.endTurn) run.ended = true
    return valueOf(settled)
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
