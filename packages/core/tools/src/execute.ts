/** Owns the execute stage: wrappers nested around the body, tries one after the other, deadlines with grace. */
import { abandonedFailure, AbortSource, type Asked, Asking, failureOf, goneFailure } from '@sluice/listeners'
import { type Listener, type PluginFailure, underGrace } from '@sluice/listeners'
import { type Attempt, DeadlineReached, decodeAttempt, failed, stopped } from './attempt.ts'
import { runBody } from './body.ts'
import { signalled } from './call.ts'
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
  readonly asked: Asked[] = []

  constructor(state: AdmittedCall, listeners: readonly Listener[]) {
    this.state = state
    this.listeners = listeners
    state.detail.asked = this.asked
  }

  /** Runs the wrappers from `index` on, and the body inside them; `outer` is told first. Never rejects: a wrapper's own throw
   *  is kept in `failure`. */
  from(index: number, source: AbortSource, outer?: Wrapper, now?: number): Promise<Attempt> {
    const listener = this.listeners[index]
    if (!listener) {
      const attempt = runBody(this.state, source, now)
      return outer ? attempt.then((came) => outer.came(came)) : attempt
    }
    this.reached = Math.max(this.reached, index + 1)
    this.current = listener.plugin
    return new Promise((resolve) => {
      const leave = (attempt: Attempt) => {
        outer?.came(attempt)
        resolve(attempt)
      }
      new Wrapper(this, index, listener, source, leave, now).start()
    })
  }

  /** What `work` comes to, or `otherwise()` when it has not ended long enough after `source` fired. */
  underGrace<T>(work: Promise<T>, source: AbortSource, otherwise: (ms: number) => T): Promise<T> {
    const { limits, config } = this.state.machine
    const ms = GRACES * config.graceMs
    return underGrace(work, limits, source, ms, () => otherwise(ms))
  }
}

/** One wrapper, and what it has under way. */
class Wrapper extends Asking {
  private readonly source: AbortSource
  private readonly nesting: Nesting
  private readonly index: number
  private readonly slot: number
  private readonly leave: (attempt: Attempt) => void
  private deadlineMs: number | undefined
  /** The try under way, or the last one. */
  private inner: Promise<Attempt> | undefined
  private isInside = false
  private last: Attempt | undefined

  constructor(
    nesting: Nesting,
    index: number,
    listener: Listener,
    outer: AbortSource,
    leave: (attempt: Attempt) => void,
    now: number | undefined,
  ) {
    super(listener, nesting.state.machine.limits, now)
    this.nesting = nesting
    this.index = index
    this.slot = nesting.asked.push(listener.plugin) - 1
    this.source = new AbortSource(outer)
    this.leave = leave
  }

  /** What a try came to. */
  came(attempt: Attempt): Attempt {
    this.isInside = false
    this.last = attempt
    this.resume()
    this.nesting.current = this.listener.plugin
    return attempt
  }

  protected call(): unknown {
    const { state } = this.nesting
    return this.listener.call(state.call, this.run(state.body.tries + 1), () => this.next())
  }

  protected answered(answer: unknown): void {
    const { nesting, last, listener } = this
    this.note('answered')
    if (this.isInside) return void this.leftRunning().then((attempt) => this.done(attempt))
    let attempt: Attempt
    try {
      attempt = answer === last && last ? last : decodeAttempt(nesting.state, answer)
    } catch (error) {
      return this.failed(failureOf(error, listener.plugin))
    }
    this.done(attempt)
  }

  protected failed(failure: PluginFailure): void {
    const { nesting } = this
    nesting.failure ??= failure
    this.note(failure.how)
    const leave = () => this.done(failed(failure, nesting.state.executed))
    if (this.isInside) void this.leftRunning().then(leave)
    else leave()
  }

  private note(said: string): void {
    this.nesting.asked[this.slot] = { plugin: this.listener.plugin, said, ms: this.spentMs }
  }

  private done(attempt: Attempt): void {
    this.source.close()
    this.leave(attempt)
  }

  private run(attempt: number): ExecuteRun {
    const deadline = (ms: number) => {
      if (!(ms > 0)) throw new RangeError(`a deadline is a positive number of ms, not ${ms}`)
      this.deadlineMs = Math.min(ms, this.deadlineMs ?? ms)
    }
    return signalled({ attempt, deadline }, this.source)
  }

  private next(): Promise<Attempt> {
    try {
      this.checkMayStart()
    } catch (error) {
      const refused = Promise.reject<Attempt>(error as Error)
      // One that nobody looks at is no unhandled rejection.
      refused.catch(() => {})
      return refused
    }
    const now = this.pause()
    this.isInside = true
    const { nesting, index, source, deadlineMs: ms } = this
    return (this.inner = ms === undefined ? nesting.from(index + 1, source, this, now) : this.underDeadline(ms))
  }

  /** @throws TOOLS_RUN_OVER, TOOLS_NOT_REPEATABLE, LISTENER_GONE */
  private checkMayStart(): void {
    const { state } = this.nesting
    const { event: name, plugin, life } = this.listener
    // A wrapper whose plugin is gone has thrown; it starts nothing.
    if (life.over) throw goneFailure(name, plugin)
    const { name: tool, annotations } = state.entry.info
    if (this.isOver) throw toolsErrors('TOOLS_RUN_OVER', { tool })
    const refuse = (problem: string) => toolsErrors('TOOLS_NOT_REPEATABLE', { tool, problem })
    if (this.isInside) throw refuse('the previous try has not settled')
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
    ;(state.deadlines ??= []).push(limit)
    const attempt = this.nesting.underGrace(this.nesting.from(this.index + 1, source), source, () =>
      stopped(source, state.executed),
    )
    return attempt.then((came) => {
      limit.end()
      source.close()
      return this.came(came)
    })
  }

  /** The wrapper has ended while its inner part still runs: stop that part and blame the wrapper. */
  private async leftRunning(): Promise<Attempt> {
    const { nesting, source, listener, inner } = this
    const error = toolsErrors('TOOLS_BODY_RUNNING', { plugin: listener.plugin })
    source.fire(error)
    await nesting.underGrace<unknown>(inner as Promise<Attempt>, source, () => undefined)
    return failed(error, nesting.state.executed)
  }
}
