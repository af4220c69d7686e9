/** Owns how one listener is asked: under a limit on its own time, diverted by an abort, never once its plugin is gone. */
import { adopt, isPromise, messageOf } from '@sluice/base'
import type { AbortSource } from './abort.ts'
import { listenerErrors } from './errors.ts'
import { abortedFailure, failureOf, goneFailure, PluginFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { Limit, Watchdog } from './watchdog.ts'

/** How long listeners may take. */
export interface TimeLimits {
  readonly watchdog: Watchdog
  /** Own time of one listener of `event`, in ms. */
  msOf(event: string): number
}

/** The listener's own time: it stands still inside its `next()`. */
export class OwnTime {
  private readonly watchdog: Watchdog
  private readonly startedAt: number
  private waited = 0
  private waitingSince = 0
  private inside = 0
  private limit: Limit | undefined

  constructor(watchdog: Watchdog) {
    this.watchdog = watchdog
    this.startedAt = watchdog.now()
  }

  get ms(): number {
    return Math.round((this.watchdog.now() - this.startedAt - this.waited) * 1000) / 1000
  }

  bound(limit: Limit): void {
    this.limit = limit
    for (let i = 0; i < this.inside; i++) limit.pause()
  }

  /** What `next()` gives, with the clock standing still until it has settled. */
  async outside<T>(inner: Promise<T>): Promise<T> {
    if (this.inside++ === 0) this.waitingSince = this.watchdog.now()
    this.limit?.pause()
    try {
      return await inner
    } finally {
      if (--this.inside === 0) this.waited += this.watchdog.now() - this.waitingSince
      this.limit?.resume()
    }
  }
}

/** The listener's answer, or a PluginFailure naming its plugin. Synchronous when the listener is. An abort of `divert` ends
 *  the asking at once: nobody is asked any more, nobody is waited for. */
export function ask(
  listener: Listener,
  limits: TimeLimits,
  divert: AbortSource | undefined,
  invoke: (own: OwnTime) => unknown,
): unknown {
  const { event, plugin } = listener
  if (!listener.mounted()) throw goneFailure(event, plugin)
  if (divert?.aborted) throw abortedFailure(plugin)
  const own = new OwnTime(limits.watchdog)
  let answer: unknown
  try {
    answer = invoke(own)
  } catch (error) {
    throw failureOf(error, plugin)
  }
  return isPromise(answer) ? bounded(listener, limits, divert, own, answer) : answer
}

function bounded(
  { event, plugin, life }: Listener,
  limits: TimeLimits,
  divert: AbortSource | undefined,
  own: OwnTime,
  answer: PromiseLike<unknown>,
): Promise<unknown> {
  const ms = limits.msOf(event)
  return new Promise((resolve, reject) => {
    const fail = (failure: PluginFailure) => {
      over()
      reject(failure)
    }
    const limit = limits.watchdog.limit(ms, () =>
      fail(new PluginFailure('expired', plugin, listenerErrors('LISTENER_EXPIRED', { event, ms }))),
    )
    own.bound(limit)
    const off = divert?.on(() => fail(abortedFailure(plugin)))
    const over = () => {
      limit.end()
      off?.()
    }
    adopt(answer).then(
      (value) => {
        over()
        // Its registration may be away all the same: one that is made for once goes when it is called.
        if (life.over) reject(goneFailure(event, plugin))
        else resolve(value)
      },
      (error: unknown) => fail(failureOf(error, plugin)),
    )
    if (divert?.aborted) fail(abortedFailure(plugin))
  })
}

/** What `work` comes to, or `otherwise()` when `source` is aborted and `ms` pass before that. */
export function underGrace<T>(
  work: Promise<T>,
  { watchdog }: TimeLimits,
  source: AbortSource,
  ms: number,
  otherwise: () => T,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let limit: Limit | undefined
    const begin = () => {
      limit = watchdog.limit(ms, () => void new Promise<T>((give) => give(otherwise())).then(resolve, reject))
    }
    const off = source.on(begin)
    if (source.aborted) begin()
    work.then(resolve, reject).finally(() => {
      off()
      limit?.end()
    })
  })
}

/** Tells each listener separately: what one throws or rejects with is handed to `failed` and starves nobody. */
export function tell(
  listeners: readonly Listener[],
  limits: TimeLimits,
  facts: readonly unknown[],
  failed: (message: string) => void,
): void {
  for (const listener of listeners) {
    const report = (error: unknown) => failed(`${listener.plugin} failed in ${listener.event}: ${messageOf(error)}`)
    try {
      const answer = ask(listener, limits, undefined, () => listener.call(...facts))
      if (isPromise(answer)) adopt(answer).catch(report)
    } catch (error) {
      report(error)
    }
  }
}
