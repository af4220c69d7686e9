/** Owns how one listener is asked: under a limit on its own time, never once its plugin is gone. */
import { isPromise } from '@sluice/base'
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

/** A listener that is asked; also the limit on its time, which whoever gives it a `next()` pauses meanwhile. It comes to one
 *  end: an answer, or a failure that names its plugin. At once when the listener is synchronous. */
export abstract class Asking extends Limit {
  readonly listener: Listener
  /** It has come to its end. */
  protected isOver = false

  constructor(listener: Listener, limits: TimeLimits, now?: number) {
    super(limits.watchdog, limits.msOf(listener.event), now)
    this.listener = listener
  }

  protected abstract call(): unknown
  protected abstract answered(answer: unknown): void
  protected abstract failed(failure: PluginFailure): void

  start(): void {
    const { listener } = this
    let answer: unknown
    try {
      if (!listener.mounted()) throw goneFailure(listener.event, listener.plugin)
      answer = this.call()
    } catch (error) {
      return this.fail(error)
    }
    if (!isPromise(answer)) return this.answer(answer)
    this.watch()
    void this.follow(answer)
  }

  /** It has failed, unless it has come to an end already. */
  fail(error: unknown): void {
    if (!this.over()) this.failed(failureOf(error, this.listener.plugin))
  }

  protected due(): void {
    const { ms } = this
    const { event, plugin } = this.listener
    this.fail(new PluginFailure('expired', plugin, listenerErrors('LISTENER_EXPIRED', { event, ms })))
  }

  /** Whatever a promise does when it is waited for, it settles once. */
  private async follow(promise: PromiseLike<unknown>): Promise<void> {
    let answer: unknown
    try {
      answer = await promise
    } catch (error) {
      return this.fail(error)
    }
    const { event, plugin, life } = this.listener
    // Its registration may be away all the same: one that is made for once goes when it is called.
    if (life.over) this.fail(goneFailure(event, plugin))
    else this.answer(answer)
  }

  private answer(answer: unknown): void {
    if (!this.over()) this.answered(answer)
  }

  /** Ends it; true when it had ended already. */
  private over(): boolean {
    const { isOver } = this
    this.isOver = true
    this.end()
    return isOver
  }
}

class Single extends Asking {
  protected readonly call: () => unknown
  protected readonly answered: (answer: unknown) => void
  protected readonly failed: (failure: PluginFailure) => void

  constructor(
    listener: Listener,
    limits: TimeLimits,
    call: () => unknown,
    answered: (answer: unknown) => void,
    failed: (failure: PluginFailure) => void,
  ) {
    super(listener, limits)
    this.call = call
    this.answered = answered
    this.failed = failed
  }
}

/** The listener's answer, or a rejection with a PluginFailure. An abort of `divert` ends the asking at once: nobody is asked
 *  any more, nobody is waited for. */
export function ask(
  listener: Listener,
  limits: TimeLimits,
  divert: AbortSource,
  call: () => unknown,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = () => asking.fail(abortedFailure(listener.plugin))
    const off = divert.on(abort)
    const asking = new Single(
      listener,
      limits,
      () => {
        if (divert.aborted) throw abortedFailure(listener.plugin)
        return call()
      },
      (answer) => (off(), resolve(answer)),
      (failure) => (off(), reject(failure)),
    )
    asking.start()
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
    const end = () => {
      off()
      limit?.end()
    }
    work.then(
      (value) => (end(), resolve(value)),
      (error: unknown) => (end(), reject(error as Error)),
    )
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
    const { plugin, event, call } = listener
    const report = (failure: PluginFailure) => failed(`${plugin} failed in ${event}: ${failure.message}`)
    new Single(
      listener,
      limits,
      () => call(...facts),
      () => {},
      report,
    ).start()
  }
}
