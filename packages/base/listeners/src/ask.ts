/** Owns how one listener is asked: under a limit on its own time, diverted by an abort, never once its plugin is gone. */
import { adopt, isPromise, messageOf } from '@sluice/base'
import type { AbortSource } from './abort.ts'
import { listenerErrors } from './errors.ts'
import { abortedFailure, failureOf, goneFailure, PluginFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import { Limit, type Watchdog } from './watchdog.ts'

/** How long listeners may take. */
export interface TimeLimits {
  readonly watchdog: Watchdog
  /** Own time of one listener of `event`, in ms. */
  msOf(event: string): number
}

/** The listener's answer, or a PluginFailure naming its plugin. Synchronous when the listener is. An abort of `divert` ends
 *  the asking at once: nobody is asked any more, nobody is waited for. `own` is the listener's time: whoever gives it a
 *  `next()` pauses it meanwhile. */
export function ask(
  listener: Listener,
  limits: TimeLimits,
  divert: AbortSource | undefined,
  invoke: (own: Limit) => unknown,
): unknown {
  const { event, plugin } = listener
  if (!listener.mounted()) throw goneFailure(event, plugin)
  if (divert?.aborted) throw abortedFailure(plugin)
  const ms = limits.msOf(event)
  const own = new Limit(limits.watchdog, ms)
  let answer: unknown
  try {
    answer = invoke(own)
  } catch (error) {
    throw failureOf(error, plugin)
  }
  return isPromise(answer) ? bounded(listener, divert, own, ms, answer) : answer
}

function bounded(
  { event, plugin, life }: Listener,
  divert: AbortSource | undefined,
  own: Limit,
  ms: number,
  answer: PromiseLike<unknown>,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (failure: PluginFailure) => {
      own.end()
      off?.()
      reject(failure)
    }
    own.watch(() => fail(new PluginFailure('expired', plugin, listenerErrors('LISTENER_EXPIRED', { event, ms }))))
    const off = divert?.on(() => fail(abortedFailure(plugin)))
    const settled = (value: unknown) => {
      // Its registration may be away all the same: one that is made for once goes when it is called.
      if (life.over) return fail(goneFailure(event, plugin))
      own.end()
      off?.()
      resolve(value)
    }
    void follow(answer, settled, (error) => fail(failureOf(error, plugin)))
    if (divert?.aborted) fail(abortedFailure(plugin))
  })
}

/** Whatever a promise does when it is waited for, it settles once. */
async function follow(
  answer: PromiseLike<unknown>,
  settled: (value: unknown) => void,
  failed: (error: unknown) => void,
) {
  let value: unknown
  try {
    value = await answer
  } catch (error) {
    return failed(error)
  }
  settled(value)
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
