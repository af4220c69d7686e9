/** Owns the execute stage: wrappers nested around the body, tries one after the other, deadlines with grace. */
import { AbortSource } from './abort.ts'
import { ask, type OwnTime } from './asking.ts'
import { checkedValue, DeadlineReached, runBody } from './body.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, type StageFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { CallState } from './state.ts'
import type { CallOutcome } from './table.ts'
import type { Attempt, Call, ExecuteRun } from './types.ts'

const event = 'tools/execute'

export async function execute(state: CallState): Promise<CallOutcome<'execute'>> {
  const listeners = state.machine.listeners.of(event, state.start.agent)
  const { source } = state.start
  try {
    if (listeners.length === 0) state.attempt = await runBody(state, source)
    else {
      const nesting = new Nesting(state, listeners)
      state.attempt = await nesting.from(0, source)
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
  readonly source: AbortSource
  deadlineMs: number | undefined

  constructor(outer: AbortSource) {
    this.source = new AbortSource(outer)
  }
}

class Nesting {
  failure: StageFailure | undefined
  private readonly state: CallState
  private readonly listeners: readonly Listener[]

  constructor(state: CallState, listeners: readonly Listener[]) {
    this.state = state
    this.listeners = listeners
  }

  /** Runs the wrappers from `index` on, and the body inside them. Never rejects: a wrapper's own throw is kept in `failure`. */
  async from(index: number, source: AbortSource): Promise<Attempt> {
    const listener = this.listeners[index]
    if (!listener) return runBody(this.state, source)
    const inner = new Inner(source)
    let own: OwnTime | undefined
    try {
      const run: ExecuteRun = Object.freeze({
        attempt: this.state.body.tries + 1,
        deadline: (ms: number) => {
          if (!(ms > 0)) throw new RangeError(`a deadline is a positive number of ms, not ${ms}`)
          inner.deadlineMs = Math.min(ms, inner.deadlineMs ?? ms)
        },
      })
      const answer = await ask(this.state, event, listener, { divert: false }, (time) => {
        own = time
        return listener.call(this.state.call as Call, run, () => time.outside(this.next(index, inner, listener)))
      })
      this.note(listener, 'answered', own)
      if (inner.running) return await this.leftRunning(inner, listener)
      return answer === inner.last && inner.last ? inner.last : this.decode(answer)
    } catch (error) {
      const failure = failureOf(error, listener.plugin)
      this.failure ??= failure
      this.note(listener, failure.detour, own)
      if (inner.running) await this.leftRunning(inner, listener)
      return { status: 'failed', executed: this.state.executed, code: failure.code, message: failure.message }
    } finally {
      inner.source.close()
    }
  }

  private note(listener: Listener, said: string, own: OwnTime | undefined): void {
    this.state.detail.asked ??= []
    this.state.detail.asked.push({ plugin: listener.plugin, said, ms: own?.ms ?? 0 })
  }

  private async next(index: number, inner: Inner, listener: Listener): Promise<Attempt> {
    this.checkRepeatable(inner)
    const running = this.underDeadline(index, inner, listener)
    inner.running = running
    inner.last = await running
    inner.running = undefined
    return inner.last
  }

  /** @throws TOOLS_NOT_REPEATABLE */
  private checkRepeatable({ running, last }: Inner): void {
    const { info } = this.state.entry as Registered
    const refuse = (problem: string) => toolsErrors('TOOLS_NOT_REPEATABLE', { tool: info.name, problem })
    if (running) throw refuse('the previous try has not settled')
    if (!last) return
    if (this.state.body.running > 0) throw refuse('the previous try was abandoned and may still run')
    if (last.executed !== 'no' && !info.annotations.readOnly && !info.annotations.idempotent)
      throw refuse('it is neither read-only nor idempotent, and the previous try ran')
  }

  /** The rest of the nest. A deadline fires the signal, gives grace, then answers in place of what hangs. */
  private underDeadline(index: number, inner: Inner, listener: Listener): Promise<Attempt> {
    const { state } = this
    const { watchdog, config } = state.machine
    const ms = inner.deadlineMs
    if (ms === undefined) return this.from(index + 1, inner.source)
    const source = new AbortSource(inner.source)
    return new Promise((resolve) => {
      const reason = new DeadlineReached(ms, listener.plugin)
      let grace: { end(): void } | undefined
      const limit = watchdog.limit(ms, () => {
        state.deadlines.delete(limit)
        source.fire(reason)
        grace = watchdog.limit(config.graceMs, () =>
          finish({ status: 'timed-out', executed: state.executed, reason: reason.message }),
        )
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
      const grace = watchdog.limit(config.graceMs, resolve)
      void inner.running?.then(() => {
        grace.end()
        resolve()
      })
    })
    return { status: 'failed', executed: this.state.executed, code: error.code, message: error.message }
  }

  /** An attempt that a wrapper made itself; what it says of `executed` is replaced by what is known.
   *  @throws TOOLS_BAD_ANSWER */
  private decode(answer: unknown): Attempt {
    const { executed } = this.state
    const { status, value, code, message, reason } = (answer ?? {}) as Record<string, unknown>
    const text = (given: unknown, otherwise: string) => (typeof given === 'string' ? given.toWellFormed() : otherwise)
    switch (status) {
      case 'succeeded': {
        const checked = checkedValue(this.state.entry as Registered, value)
        if ('code' in checked) return { status: 'failed', executed, code: checked.code, message: checked.message }
        return { status, executed, value: checked.value }
      }
      case 'failed':
        return { status, executed, code: text(code, 'TOOLS_BODY_FAILED'), message: text(message, 'it failed') }
      case 'aborted':
      case 'timed-out':
        return { status, executed, reason: text(reason, 'no reason given') }
      default:
        throw toolsErrors('TOOLS_BAD_ANSWER', { event, problem: 'the answer is no attempt; return what next() gave' })
    }
  }
}
