/** Owns asking all listeners of an event: one after another, each once, whatever they do with `next()`. */
import type { AbortSource } from './abort.ts'
import { Asking, type TimeLimits } from './ask.ts'
import { abandonedFailure, abortedFailure, failureOf, type PluginFailure } from './failure.ts'
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

/** One asking. A kind of question says how an answer is read and how two verdicts are joined. Nothing is waited for, and no
 *  promise made, as long as listeners answer at once. */
export abstract class Round<Verdict> {
  /** In the order of asking. */
  readonly asked: Asked[] = []
  /** The first failure that was not too late to matter. */
  failure: PluginFailure | undefined
  /** The plugin whose own code runs, as far as that can be known. */
  current = ''
  /** The verdict stands: nobody else is asked, and what those say who were asked already changes nothing. */
  over = false
  readonly listeners: readonly Listener[]
  private readonly limits: TimeLimits
  private readonly divert: AbortSource | undefined
  private readonly graceMs: number | undefined
  private readonly entries: Entry<Verdict>[] = []
  /** Entries that have not come to a verdict. */
  private open = 0
  private end: (() => void) | undefined

  /** An abort of `divert` ends the round at once, or, with `graceMs`, when so long has passed. */
  constructor(listeners: readonly Listener[], limits: TimeLimits, divert: AbortSource | undefined, graceMs?: number) {
    this.listeners = listeners
    this.limits = limits
    this.divert = divert
    this.graceMs = graceMs
  }

  protected abstract call(listener: Listener, next: () => Verdict | Promise<Verdict>): unknown
  /** What `next()` gives the last listener, and everybody once the round is over. */
  protected abstract nothing(): Verdict
  /** Reads an answer that is the listener's own, each field once, into what counts of it. Frozen: `next()` hands it out.
   *  @throws for what is no answer */
  protected abstract take(answer: unknown, listener: Listener, slot: number, own: Limit): Verdict
  /** Called once for each own answer, when those after it have theirs.
   *  @throws for an answer that does not fit what they left */
  protected abstract join(own: Verdict, later: Verdict): Verdict
  /** What `next()` gives for a listener that has failed. */
  protected abstract failed(failure: PluginFailure, listener: Listener): Verdict

  /** The joined verdict, once every listener that was entered has answered or is past its time. Never rejects. */
  all(): Verdict | Promise<Verdict> {
    const first = this.enter(0)
    const verdict = () => first?.verdict ?? this.nothing()
    if (this.open === 0) return verdict()
    return new Promise((resolve) => {
      const { divert } = this
      let grace: Limit | undefined
      const abort = () => (grace = this.diverted())
      const off = divert?.on(abort)
      this.end = () => {
        off?.()
        grace?.end()
        resolve(verdict())
      }
      if (divert?.aborted) abort()
    })
  }

  /** What `read` makes of {@link all}; at once when that is. */
  settled<T>(read: (verdict: Verdict) => T): T | Promise<T> {
    const all = this.all()
    return all instanceof Promise ? all.then(read) : read(all)
  }

  /** For entries: calls the listener. */
  ask(entry: Entry<Verdict>): unknown {
    const { listener } = entry
    if (this.graceMs === undefined && this.divert?.aborted) throw abortedFailure(listener.plugin)
    return this.call(listener, () => this.next(entry))
  }

  /** For entries: the listener has answered. */
  answered(entry: Entry<Verdict>, answer: unknown): void {
    const { later, listener, index } = entry
    // An answer identical to that of next() is a pass.
    if (later !== undefined && answer === later) return this.finish(entry, later)
    let own: Verdict
    try {
      own = this.take(answer, listener, index, entry)
    } catch (error) {
      return this.fell(entry, failureOf(error, listener.plugin))
    }
    const inner = this.enter(index + 1)
    const rest = inner ? inner.verdict : this.nothing()
    if (rest === undefined) entry.own = own
    else this.conclude(entry, own, rest)
  }

  private conclude(entry: Entry<Verdict>, own: Verdict, later: Verdict): void {
    let verdict: Verdict
    try {
      verdict = this.join(own, later)
    } catch (error) {
      return this.fell(entry, failureOf(error, entry.listener.plugin))
    }
    this.finish(entry, verdict)
  }

  /** For entries: the listener has failed. */
  fell(entry: Entry<Verdict>, failure: PluginFailure): void {
    const { listener, index } = entry
    this.asked[index] = { plugin: listener.plugin, said: failure.how, reason: failure.message, ms: entry.spentMs }
    if (!this.over) this.failure = failure
    this.over = true
    this.finish(entry, this.failed(failure, listener))
  }

  /** The listener at `index`, which is asked now unless it was; `undefined` when nobody is asked any more. */
  private enter(index: number, now?: number): Entry<Verdict> | undefined {
    const known = this.entries[index]
    const listener = this.listeners[index]
    if (known || !listener || this.over) return known
    const entry = new Entry(this, index, listener, this.limits, now)
    this.entries.push(entry)
    this.asked.push(listener.plugin)
    this.current = listener.plugin
    this.open++
    entry.start()
    return entry
  }

  /** The joined verdict of the listeners after `entry`, the same each time. */
  private next(entry: Entry<Verdict>): Verdict | Promise<Verdict> {
    if (entry.later !== undefined) return entry.later
    const after = entry.index + 1
    const isLast = this.entries.length === after && (this.over || this.listeners.length === after)
    if (isLast) return (entry.later = this.nothing())
    const inner = this.enter(after, entry.waits ? undefined : entry.pause()) as Entry<Verdict>
    const later = inner.outcome()
    if (later instanceof Promise) entry.waits = true
    else this.resume(entry, later)
    return later
  }

  private resume(entry: Entry<Verdict>, later: Verdict): void {
    entry.later = later
    entry.resume()
    this.current = entry.listener.plugin
  }

  /** The entry has a verdict, so the one around it has what it waits for. */
  private finish(entry: Entry<Verdict>, verdict: Verdict): void {
    entry.settle(verdict)
    this.open--
    const outer = this.entries[entry.index - 1]
    if (outer?.waits) this.resume(outer, verdict)
    if (outer?.own !== undefined) this.conclude(outer, outer.own, verdict)
    if (this.open === 0) this.end?.()
  }

  private diverted(): Limit | undefined {
    const { graceMs: ms, limits } = this
    if (ms === undefined) for (const entry of this.entries) entry.fail(abortedFailure(entry.listener.plugin))
    else return limits.watchdog.limit(ms, () => this.abandon(ms))
    return undefined
  }

  private abandon(ms: number): void {
    this.failure = abandonedFailure(this.current, ms)
    this.over = true
    this.end?.()
  }
}

/** A listener of a round. Its verdict is the one from here on: joined with those after it. */
class Entry<Verdict> extends Asking {
  readonly index: number
  /** What its `next()` came to. */
  later: Verdict | undefined
  /** It has waited for `next()`, or does. */
  waits = false
  /** Its own part of the verdict, while those after it are still asked. */
  own: Verdict | undefined
  verdict: Verdict | undefined
  private readonly round: Round<Verdict>
  private promise: Promise<Verdict> | undefined
  private resolve: ((verdict: Verdict) => void) | undefined

  constructor(round: Round<Verdict>, index: number, listener: Listener, limits: TimeLimits, now: number | undefined) {
    super(listener, limits, now)
    this.round = round
    this.index = index
  }

  outcome(): Verdict | Promise<Verdict> {
    return this.verdict ?? (this.promise ??= new Promise((resolve) => (this.resolve = resolve)))
  }

  settle(verdict: Verdict): void {
    this.verdict = verdict
    this.resolve?.(verdict)
  }

  protected call(): unknown {
    return this.round.ask(this)
  }

  protected answered(answer: unknown): void {
    this.round.answered(this, answer)
  }

  protected failed(failure: PluginFailure): void {
    this.round.fell(this, failure)
  }
}
