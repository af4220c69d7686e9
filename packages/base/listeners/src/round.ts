/** Owns asking all listeners of an event: one after another, each once, whatever they do with `next()`. */
import { isPromise } from '@sluice/base'
import type { AbortSource } from './abort.ts'
import { ask, type TimeLimits } from './ask.ts'
import { failureOf, type PluginFailure } from './failure.ts'
import type { Listener } from './listeners.ts'
import type { Limit } from './watchdog.ts'

/** What one listener said; an abstention is its plugin only. */
export type Asked =
  | string
  | {
      readonly plugin: string
      readonly said: string
      readonly reason?: string
      readonly rule?: string
      /** Rules that would have allowed the call, as offered to a person. */
      readonly offers?: readonly { readonly id: string; readonly text: string }[]
      readonly ms: number
    }

/** One asking. A kind of question says how an answer is read and how two verdicts are joined. */
export abstract class Round<Verdict> {
  /** In the order of asking. */
  readonly asked: Asked[] = []
  /** The first failure that was not too late to matter. */
  failure: PluginFailure | undefined
  /** The plugin whose own code runs, as far as that can be known. */
  current = ''
  /** The verdict stands: nobody else is asked, and what those say who were asked already changes nothing. */
  over = false
  private readonly listeners: readonly Listener[]
  private readonly limits: TimeLimits
  private readonly divert: AbortSource | undefined
  private readonly tails: Promise<Verdict>[] = []

  constructor(listeners: readonly Listener[], limits: TimeLimits, divert: AbortSource | undefined) {
    this.listeners = listeners
    this.limits = limits
    this.divert = divert
  }

  protected abstract call(listener: Listener, next: () => Promise<Verdict>): unknown
  /** What `next()` gives the last listener, and everybody once the round is over. */
  protected abstract nothing(): Verdict
  /** Reads an answer that is the listener's own, each field once, into what counts of it. Frozen: `next()` hands it out.
   *  @throws for what is no answer */
  protected abstract take(answer: unknown, listener: Listener, slot: number, own: Limit): Verdict
  protected abstract join(own: Verdict, later: Verdict): Verdict
  /** What `next()` gives for a listener that has failed. */
  protected abstract failed(failure: PluginFailure, listener: Listener): Verdict

  /** The joined verdict, once every listener that was entered has answered or is past its time. */
  async all(): Promise<Verdict> {
    const verdict = await this.from(0)
    if (this.over) await Promise.all(this.tails)
    return verdict
  }

  /** The joined verdict of the listeners from `index` on; each is asked once, whoever wants to know. */
  protected from(index: number): Promise<Verdict> {
    return (this.tails[index] ??= this.askFrom(index))
  }

  private async askFrom(index: number): Promise<Verdict> {
    const listener = this.listeners[index]
    if (!listener || this.over) return this.nothing()
    const slot = this.asked.push(listener.plugin) - 1
    this.current = listener.plugin
    let later: Verdict | undefined
    let own: Limit | undefined
    try {
      const answer = ask(listener, this.limits, this.divert, (time) => {
        own = time
        return this.call(listener, async () => {
          time.pause()
          later = await this.from(index + 1)
          time.resume()
          this.current = listener.plugin
          return later
        })
      })
      const said = isPromise(answer) ? await answer : answer
      // An answer identical to that of next() is a pass.
      if (later !== undefined && said === later) return later
      const verdict = this.take(said, listener, slot, own as Limit)
      return this.join(verdict, await this.from(index + 1))
    } catch (error) {
      const failure = failureOf(error, listener.plugin)
      this.asked[slot] = { plugin: listener.plugin, said: failure.how, reason: failure.message, ms: spentMs(own) }
      if (!this.over) this.failure = failure
      this.over = true
      return this.failed(failure, listener)
    }
  }
}

/** Microseconds are as fine as it gets. */
export function spentMs(own: Limit | undefined): number {
  return own === undefined ? 0 : Math.round(own.spentMs * 1000) / 1000
}
