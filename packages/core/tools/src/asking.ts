/** Owns how one listener is asked: under a limit on its own time, diverted by an abort, never called once it is gone. */
import { toolsErrors } from './errors.ts'
import { failureOf, StageFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { CallState } from './state.ts'
import type { Limit } from './watchdog.ts'

/** True for objects with a `then` to call; an object that hides it behind a throw is none. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  try {
    return value !== null && typeof value === 'object' && typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}

/** A promise where none belongs: nobody waits for it, and its rejection is no unhandled one. */
export function disown(answer: unknown): void {
  if (isPromise(answer)) new Promise((adopt) => adopt(answer)).catch(() => {})
}

/** The listener's own time: it stands still inside its `next()`. */
export class OwnTime {
  private readonly state: CallState
  private readonly startedAt: number
  private waited = 0
  private waitingSince = 0
  private inside = 0
  private limit: Limit | undefined

  constructor(state: CallState) {
    this.state = state
    this.startedAt = state.machine.clock.monotonic()
  }

  get ms(): number {
    return Math.round((this.state.machine.clock.monotonic() - this.startedAt - this.waited) * 1000) / 1000
  }

  bound(limit: Limit): void {
    this.limit = limit
    for (let i = 0; i < this.inside; i++) limit.pause()
  }

  /** What `next()` gives, with the clock standing still until it has settled. */
  async outside<T>(inner: Promise<T>): Promise<T> {
    if (this.inside++ === 0) this.waitingSince = this.state.machine.clock.monotonic()
    this.limit?.pause()
    try {
      return await inner
    } finally {
      if (--this.inside === 0) this.waited += this.state.machine.clock.monotonic() - this.waitingSince
      this.limit?.resume()
    }
  }
}

export function goneFailure(event: string, listener: Listener): StageFailure {
  const error = toolsErrors('TOOLS_LISTENER_GONE', { event })
  return new StageFailure('threw', listener.plugin, error.code, error.message)
}

function abortedFailure(listener: Listener): StageFailure {
  return new StageFailure('aborted', listener.plugin, '', 'aborted')
}

export interface AskOptions {
  /** Whether an abort of the call diverts at once: nobody is asked any more, nobody is waited for. */
  readonly divert: boolean
}

/** The listener's answer, or a StageFailure naming its plugin. Synchronous when the listener is. */
export function ask(
  state: CallState,
  event: string,
  listener: Listener,
  options: AskOptions,
  invoke: (own: OwnTime) => unknown,
): unknown {
  if (listener.gone()) throw goneFailure(event, listener)
  if (options.divert && state.start.source.aborted) throw abortedFailure(listener)
  const own = new OwnTime(state)
  let answer: unknown
  try {
    answer = invoke(own)
  } catch (error) {
    throw failureOf(error, listener.plugin)
  }
  return isPromise(answer) ? bounded(state, event, listener, options, own, answer) : answer
}

function bounded(
  state: CallState,
  event: string,
  listener: Listener,
  options: AskOptions,
  own: OwnTime,
  answer: PromiseLike<unknown>,
): Promise<unknown> {
  const { config, watchdog } = state.machine
  const { source } = state.start
  const ms = config.listenerTimeouts[event] ?? config.listenerTimeoutMs
  return new Promise((resolve, reject) => {
    const limit = watchdog.limit(ms, () => {
      const error = toolsErrors('TOOLS_LISTENER_EXPIRED', { event, ms })
      fail(new StageFailure('expired', listener.plugin, error.code, error.message))
    })
    own.bound(limit)
    const off = options.divert ? source.on(() => fail(abortedFailure(listener))) : undefined
    const over = () => {
      limit.end()
      off?.()
    }
    const fail = (failure: StageFailure) => {
      over()
      reject(failure)
    }
    // A promise may lie about its own `then`; adopted by a new one, whatever it throws is a rejection.
    new Promise((adopt) => adopt(answer)).then(
      (value) => {
        over()
        if (listener.gone()) reject(goneFailure(event, listener))
        else resolve(value)
      },
      (error: unknown) => fail(failureOf(error, listener.plugin)),
    )
    if (options.divert && source.aborted) fail(abortedFailure(listener))
  })
}

/** `work`, unless the call is aborted and `graces` times the grace pass without its end: then a failure of `blamed()`. */
export function underGrace<T>(state: CallState, graces: number, work: Promise<T>, blamed: () => string): Promise<T> {
  const { watchdog, config } = state.machine
  const { source } = state.start
  const ms = graces * config.graceMs
  return new Promise((resolve, reject) => {
    let limit: Limit | undefined
    const begin = () => {
      limit = watchdog.limit(ms, () => {
        const error = toolsErrors('TOOLS_ABANDONED', { ms })
        reject(new StageFailure('expired', blamed(), error.code, error.message))
      })
    }
    const off = source.on(begin)
    if (source.aborted) begin()
    work.then(resolve, reject).finally(() => {
      off()
      limit?.end()
    })
  })
}
