/** Owns the execute stage: wrappers nested around the body, tries one after the other, deadlines with grace. */
import { AbortSource } from './abort.ts'
import { ask, goneFailure, type OwnTime, underGrace } from './asking.ts'
import { DeadlineReached, decodeAttempt, failed, stopped } from './attempt.ts'
import { runBody } from './body.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, type StageFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { Asked, CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Attempt, Call, ExecuteRun } from './types.ts'
import type { Limit } from './watchdog.ts'

const event = 'tools/execute'
/** After an abort or a deadline the body has one grace, then the wrappers around it have another. */
const GRACES = 2

export async function execute(state: CallState): Promise<CallOutcome<'execute'>> {
  const listeners = state.machine.listeners.of(event, state.start.agent)
  const { source } = state.start
  try {
    if (listeners.length === 0) state.attempt = await runBody(state, source)
    else {
      const nesting = new Nesting(state, listeners)
      const attempt = underGrace(state, GRACES, nesting.from(0, source), () => nesting.current)
      state.attempt = await attempt.finally(() => state.noteUnasked(listeners, nesting.reached))
      if (nesting.failure) throw nesting.failure
    }
    return 'done'
  } finally {
    state.release?.()
  }
}

/** What one wrapper has under way. */
class Inner {
  running: Promise<Attempt> | undefined
  last: Attempt | undefined
  /** The wrapper has answered: it may start nothing any more. */
  over = false
  readonly source: AbortSource
  deadlineMs: number | undefined

  constructor(outer: AbortSource) {
    this.source = new AbortSource(outer)
  }
}

class Nesting {
  failure: StageFailure | undefined
  /** The wrapper whose own code runs, as far as that can be known. */
  current = event
  reached = 0
  private readonly state: CallState
  private readonly listeners: readonly Listener[]
  private readonly asked: Asked[] = []

  constructor(state: CallState, listeners: readonly Listener[]) {
    this.state = state
    this.listeners = listeners
    state.detail.asked = this.asked
  }

  /** Runs the wrappers from `index` on, and the body inside them. Never rejects: a wrapper's own throw is kept in `failure`. */
  async from(index: number, source: AbortSource): Promise<Attempt> {
    const listener = this.listeners[index]
    if (!listener) return runBody(this.state, source)
    const inner = new Inner(source)
    let own: OwnTime | undefined
    this.current = listener.plugin
    this.reached = Math.max(this.reached, index + 1)
    try {
      const run = this.runOf(inner)
      const answer = await ask(this.state, event, listener, { divert: false }, (time) => {
        own = time
        return listener.call(this.state.call as Call, run, () => this.next(index, inner, listener, time))
      })
      inner.over = true
      this.note(listener, 'answered', own)
      if (inner.running) return await this.leftRunning(inner, listener)
      return answer === inner.last && inner.last ? inner.last : decodeAttempt(this.state, answer)
    } catch (error) {
      inner.over = true
      const failure = failureOf(error, listener.plugin)
      this.failure ??= failure
      this.note(listener, failure.detour, own)
      if (inner.running) await this.leftRunning(inner, listener)
      return failed(failure, this.state.executed)
    } finally {
      inner.source.close()
    }
  }

  private runOf(inner: Inner): ExecuteRun {
    return Object.freeze({
      attempt: this.state.body.tries + 1,
      get signal() {
        return inner.source.signal
      },
      deadline(ms: number) {
        if (!(ms > 0)) throw new RangeError(`a deadline is a positive number of ms, not ${ms}`)
        inner.deadlineMs = Math.min(ms, inner.deadlineMs ?? ms)
      },
    })
  }

  private note(listener: Listener, said: string, own: OwnTime | undefined): void {
    this.asked.push({ plugin: listener.plugin, said, ms: own?.ms ?? 0 })
  }

  /** What the wrapper's `next()` gives. A refusal that nobody looks at is no unhandled rejection. */
  private next(index: number, inner: Inner, listener: Listener, own: OwnTime): Promise<Attempt> {
    const attempt = own.outside(this.again(index, inner, listener))
    attempt.then(
      () => (this.current = listener.plugin),
      () => {},
    )
    return attempt
  }

  private async again(index: number, inner: Inner, listener: Listener): Promise<Attempt> {
    // A wrapper whose plugin is gone has thrown; it starts nothing.
    if (listener.gone()) throw goneFailure(event, listener)
    this.checkRepeatable(inner)
    const running = this.underDeadline(index, inner)
    inner.running = running
    inner.last = await running
    inner.running = undefined
    return inner.last
  }

  /** @throws TOOLS_RUN_OVER, TOOLS_NOT_REPEATABLE */
  private checkRepeatable({ running, last, over }: Inner): void {
    const { info } = this.state.entry as Registered
    if (over) throw toolsErrors('TOOLS_RUN_OVER', { tool: info.name })
    const refuse = (problem: string) => toolsErrors('TOOLS_NOT_REPEATABLE', { tool: info.name, problem })
    if (running) throw refuse('the previous try has not settled')
    if (!last) return
    if (this.state.lingers) throw refuse('the previous try was abandoned and may still run')
    if (last.executed !== 'no' && !info.annotations.readOnly && !info.annotations.idempotent)
      throw refuse('it is neither read-only nor idempotent, and the previous try ran')
  }

  /** The rest of the nest. A deadline fires the signal, gives grace, then answers in place of what hangs. */
  private underDeadline(index: number, inner: Inner): Promise<Attempt> {
    const { state } = this
    const { watchdog, config } = state.machine
    const ms = inner.deadlineMs
    if (ms === undefined) return this.from(index + 1, inner.source)
    const source = new AbortSource(inner.source)
    return new Promise((resolve) => {
      let grace: Limit | undefined
      const limit = watchdog.limit(ms, () => {
        source.fire(new DeadlineReached(ms))
        grace = watchdog.limit(GRACES * config.graceMs, () => finish(stopped(source, state.executed)))
      })
      state.deadlines.add(limit)
      const finish = (attempt: Attempt) => {
        state.deadlines.delete(limit)
        limit.end()
        grace?.end()
        source.close()
        resolve(attempt)
      }
      void this.from(index + 1, source).then(finish)
    })
  }

  /** The wrapper answered while its inner part still ran: stop that part and blame the wrapper. */
  private async leftRunning(inner: Inner, listener: Listener): Promise<Attempt> {
    const error = toolsErrors('TOOLS_BODY_RUNNING', { plugin: listener.plugin })
    inner.source.fire(error)
    const { watchdog, config } = this.state.machine
    await new Promise<void>((resolve) => {
      const grace = watchdog.limit(GRACES * config.graceMs, resolve)
      void inner.running?.then(() => {
        grace.end()
        resolve()
      })
    })
    return failed(error, this.state.executed)
  }
}
