/** Owns the execute stage: wrappers nested around the body, tries one after the other, deadlines with grace. */
import {
  abandonedFailure,
  AbortSource,
  ask,
  type Asked,
  failureOf,
  goneFailure,
  spentMs,
  underGrace,
} from '@sluice/listeners'
import type { Limit, Listener, PluginFailure } from '@sluice/listeners'
import { type Attempt, DeadlineReached, decodeAttempt, failed, stopped } from './attempt.ts'
import { runBody } from './body.ts'
import { toolsErrors } from './errors.ts'
import { conclude } from './outcome.ts'
import type { AdmittedCall } from './state.ts'
import type { CallOutcome } from './table.ts'

/** What a wrapper of `tools/execute` is given besides the call. */
export interface ExecuteRun {
  readonly attempt: number
  /** Fires when the call is aborted, or the deadline of a wrapper outside this one is over. */
  readonly signal: AbortSignal
  /** Adds a reason to abort this try: when `ms` have passed the signal of the body fires and the try is timed-out.
   *  The clock stands still while a nested call waits for a person. */
  deadline(ms: number): void
}

const event = 'tools/execute'
/** After an abort or a deadline the body has one grace, then the wrappers around it have another. */
const GRACES = 2

export async function execute(state: AdmittedCall): Promise<CallOutcome<'execute'>> {
  const listeners = state.listenersOf(event)
  const { source } = state.start
  conclude(state, listeners.length === 0 ? await runBody(state, source) : await wrapped(state, listeners))
  return 'done'
}

async function wrapped(state: AdmittedCall, listeners: readonly Listener[]): Promise<Attempt> {
  const nesting = new Nesting(state, listeners)
  const { source } = state.start
  try {
    const attempt = await nesting.underGrace(nesting.from(0, source), source, (ms) => {
      throw abandonedFailure(nesting.current, ms)
    })
    if (nesting.failure) throw nesting.failure
    return attempt
  } finally {
    state.noteUnasked(listeners, nesting.reached)
  }
}

/** The wrappers of one call. */
class Nesting {
  failure: PluginFailure | undefined
  /** The wrapper whose own code runs, as far as that can be known. */
  current = event
  reached = 0
  readonly state: AdmittedCall
  private readonly listeners: readonly Listener[]
  private readonly asked: Asked[] = []

  constructor(state: AdmittedCall, listeners: readonly Listener[]) {
    this.state = state
    this.listeners = listeners
    state.detail.asked = this.asked
  }

  /** Runs the wrappers from `index` on, and the body inside them. Never rejects: a wrapper's own throw is kept in `failure`. */
  async from(index: number, source: AbortSource): Promise<Attempt> {
    const listener = this.listeners[index]
    if (!listener) return runBody(this.state, source)
    this.reached = Math.max(this.reached, index + 1)
    const slot = this.asked.push(listener.plugin) - 1
    this.current = listener.plugin
    const wrapper = new Wrapper(this, index, listener, source)
    try {
      const answer = await wrapper.ask()
      wrapper.over = true
      this.note(slot, wrapper, 'answered')
      if (wrapper.running) return await wrapper.leftRunning(wrapper.running)
      return answer === wrapper.last && wrapper.last ? wrapper.last : decodeAttempt(this.state, answer)
    } catch (error) {
      wrapper.over = true
      const failure = failureOf(error, listener.plugin)
      this.failure ??= failure
      this.note(slot, wrapper, failure.how)
      if (wrapper.running) await wrapper.leftRunning(wrapper.running)
      return failed(failure, this.state.executed)
    } finally {
      wrapper.source.close()
    }
  }

  /** What `work` comes to, or `otherwise()` when it has not ended long enough after `source` fired. */
  underGrace<T>(work: Promise<T>, source: AbortSource, otherwise: (ms: number) => T): Promise<T> {
    const { limits, config } = this.state.machine
    const ms = GRACES * config.graceMs
    return underGrace(work, limits, source, ms, () => otherwise(ms))
  }

  private note(slot: number, { listener: { plugin }, own }: Wrapper, said: string): void {
    this.asked[slot] = { plugin, said, ms: spentMs(own) }
  }
}

/** One wrapper, and what it has under way. */
class Wrapper {
  running: Promise<Attempt> | undefined
  last: Attempt | undefined
  own: Limit | undefined
  readonly source: AbortSource
  readonly listener: Listener
  private readonly nesting: Nesting
  private readonly index: number
  private deadlineMs: number | undefined
  /** It has answered: it may start nothing any more. */
  over = false

  constructor(nesting: Nesting, index: number, listener: Listener, outer: AbortSource) {
    this.nesting = nesting
    this.index = index
    this.listener = listener
    this.source = new AbortSource(outer)
  }

  ask(): unknown {
    const { state } = this.nesting
    const run = this.run(state.body.tries + 1)
    return ask(this.listener, state.machine.limits, undefined, (own) => {
      this.own = own
      return this.listener.call(state.call, run, () => this.next(own))
    })
  }

  private run(attempt: number): ExecuteRun {
    const { source } = this
    return {
      attempt,
      get signal() {
        return source.signal
      },
      deadline: (ms: number) => {
        if (!(ms > 0)) throw new RangeError(`a deadline is a positive number of ms, not ${ms}`)
        this.deadlineMs = Math.min(ms, this.deadlineMs ?? ms)
      },
    }
  }

  private next(own: Limit): Promise<Attempt> {
    try {
      this.checkMayStart()
    } catch (error) {
      const refused = Promise.reject<Attempt>(error as Error)
      // One that nobody looks at is no unhandled rejection.
      refused.catch(() => {})
      return refused
    }
    return this.again(own)
  }

  private async again(own: Limit): Promise<Attempt> {
    own.pause()
    this.running = this.deadlineMs === undefined ? this.inner(this.source) : this.underDeadline(this.deadlineMs)
    this.last = await this.running
    this.running = undefined
    own.resume()
    this.nesting.current = this.listener.plugin
    return this.last
  }

  private inner(source: AbortSource): Promise<Attempt> {
    return this.nesting.from(this.index + 1, source)
  }

  /** @throws TOOLS_RUN_OVER, TOOLS_NOT_REPEATABLE, LISTENER_GONE */
  private checkMayStart(): void {
    const { state } = this.nesting
    const { event: name, plugin, life } = this.listener
    // A wrapper whose plugin is gone has thrown; it starts nothing.
    if (life.over) throw goneFailure(name, plugin)
    const { name: tool, annotations } = state.entry.info
    if (this.over) throw toolsErrors('TOOLS_RUN_OVER', { tool })
    const refuse = (problem: string) => toolsErrors('TOOLS_NOT_REPEATABLE', { tool, problem })
    if (this.running) throw refuse('the previous try has not settled')
    if (!this.last) return
    if (state.lingers) throw refuse('the previous try was abandoned and may still run')
    if (this.last.executed !== 'no' && !annotations.readOnly && !annotations.idempotent)
      throw refuse('it is neither read-only nor idempotent, and the previous try ran')
  }

  /** A deadline fires the signal, gives grace, then answers in place of what hangs. */
  private underDeadline(ms: number): Promise<Attempt> {
    const { state } = this.nesting
    const source = new AbortSource(this.source)
    const limit = state.machine.limits.watchdog.limit(ms, () => source.fire(new DeadlineReached(ms)))
    state.deadlines.add(limit)
    const attempt = this.nesting.underGrace(this.inner(source), source, () => stopped(source, state.executed))
    return attempt.finally(() => {
      state.deadlines.delete(limit)
      limit.end()
      source.close()
    })
  }

  /** The wrapper answered while its inner part still ran: stop that part and blame the wrapper. */
  async leftRunning(running: Promise<Attempt>): Promise<Attempt> {
    const { nesting, source, listener } = this
    const error = toolsErrors('TOOLS_BODY_RUNNING', { plugin: listener.plugin })
    source.fire(error)
    await nesting.underGrace<unknown>(running, source, () => undefined)
    return failed(error, nesting.state.executed)
  }
}
