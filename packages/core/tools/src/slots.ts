/** Owns how bodies of one session overlap: many readers or one writer per key, and only so many at once. */
import { isPromise } from '@sluice/base'
import { abortedFailure, type AbortSource, failureOf, PluginFailure } from '@sluice/listeners'
import { toolsErrors } from './errors.ts'
import type { AdmittedCall, CallState } from './state.ts'

/** Keys that a body reads or writes: many readers or one writer per key. */
export interface Keys {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
}

/** Every call reads this key, and an exclusive one writes it. */
const everything = '*'

interface Need {
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
}

const exclusive: Need = { reads: new Set(), writes: new Set([everything]) }
const parallel: Need = { reads: new Set([everything]), writes: new Set() }

/** A call that has its slot. */
export interface Holder {
  readonly label: string
  readonly need: Need
  readonly slots: Slots
  /** Nested calls that have a slot. */
  inside: number
  /** It has left `execute`; its body may not have ended. */
  over: boolean
}

interface Waiter {
  readonly need: Need
  readonly grant: () => void
  readonly refuse: (failure: PluginFailure) => void
}

/** Counts the calls of a session that have a slot and no nested calls that have one. */
export class Parallelism {
  readonly max: number
  /** Groups in which somebody waits. */
  readonly waiting = new Set<Slots>()
  private running = 0

  constructor(max: number) {
    this.max = max
  }

  /** The first call inside another runs in the place of that one. */
  isFree(outer: Holder | undefined): boolean {
    return outer?.inside === 0 || this.running < this.max
  }

  take(outer: Holder | undefined): void {
    if (!outer || outer.inside++ > 0) this.running++
  }

  /** The last call inside another gives the place back to that one. */
  give(outer: Holder | undefined): void {
    if (outer && --outer.inside === 0) {
      if (outer.over) this.give(outer.slots.outer)
      return
    }
    this.running--
    for (const group of Array.from(this.waiting)) group.settle()
  }
}

/** The slots of one group of siblings: the calls of a session, or those inside `outer`. A call takes all its keys at once, so
 *  no two calls wait for each other. */
export class Slots {
  readonly outer: Holder | undefined
  readonly parallelism: Parallelism
  private readonly holders = new Set<Holder>()
  private waiters: Waiter[] = []

  constructor(parallelism: Parallelism, outer?: Holder) {
    this.parallelism = parallelism
    this.outer = outer
  }

  /** A promise only for a call that has to wait: behind every earlier one that needs one of the same keys, until there is a
   *  place, or until `source` fires.
   *  @throws PluginFailure TOOLS_KEY_HELD */
  take(label: string, need: Need, source: AbortSource): Holder | Promise<Holder> {
    for (const holder of this.holders)
      if (holder.over && collide(holder.need, need) !== undefined) throw held(holder, need)
    if (this.waiters.length === 0 && this.canEnter(need)) return this.enter(label, need)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        need,
        grant: () => (off(), resolve(this.enter(label, need))),
        refuse: (failure) => (off(), reject(failure)),
      }
      const off = source.on(() => {
        this.waiters = this.waiters.filter((other) => other !== waiter)
        reject(abortedFailure(label))
        this.settle()
      })
      this.waiters.push(waiter)
      this.settle()
    })
  }

  /** The call leaves `execute`. A body that did not end keeps its keys until `ended`, and those who need them are refused. */
  leave(holder: Holder, lingers: boolean): void {
    holder.over = true
    if (lingers) {
      const refused = this.waiters.filter(({ need }) => collide(holder.need, need) !== undefined)
      this.waiters = this.waiters.filter((waiter) => !refused.includes(waiter))
      for (const waiter of refused) waiter.refuse(held(holder, waiter.need))
    } else this.holders.delete(holder)
    if (holder.inside === 0) this.parallelism.give(this.outer)
    this.settle()
  }

  /** Nobody waits for its keys: whoever needed them was refused. */
  ended(holder: Holder): void {
    this.holders.delete(holder)
  }

  /** Lets in whoever can start, in the order in which they came. */
  settle(): void {
    if (this.waiters.length === 0) return void this.parallelism.waiting.delete(this)
    const still: Waiter[] = []
    const ahead = { reads: new Set<string>(), writes: new Set<string>() }
    for (const [index, waiter] of this.waiters.entries()) {
      // Behind a full house, or behind one who waits for everything, nobody needs to be looked at.
      if (!this.parallelism.isFree(this.outer) || ahead.writes.has(everything)) {
        still.push(...this.waiters.slice(index))
        break
      }
      const { need } = waiter
      if (collide(ahead, need) === undefined && this.canEnter(need)) {
        waiter.grant()
        continue
      }
      still.push(waiter)
      for (const key of need.reads) ahead.reads.add(key)
      for (const key of need.writes) ahead.writes.add(key)
    }
    this.waiters = still
    if (still.length > 0) this.parallelism.waiting.add(this)
    else this.parallelism.waiting.delete(this)
  }

  private canEnter(need: Need): boolean {
    if (!this.parallelism.isFree(this.outer)) return false
    for (const holder of this.holders) if (collide(holder.need, need) !== undefined) return false
    return true
  }

  private enter(label: string, need: Need): Holder {
    const holder: Holder = { label, need, slots: this, inside: 0, over: false }
    this.holders.add(holder)
    this.parallelism.take(this.outer)
    return holder
  }
}

/** A key that both need and at least one writes. */
function collide(a: Need, b: Need): string | undefined {
  for (const key of a.writes) if (b.writes.has(key) || b.reads.has(key)) return key
  for (const key of b.writes) if (a.reads.has(key)) return key
  return undefined
}

function held(holder: Holder, need: Need): PluginFailure {
  const key = collide(holder.need, need) ?? everything
  const data = { key: key === everything ? 'the session' : key, holder: holder.label }
  return new PluginFailure('threw', holder.label, toolsErrors('TOOLS_KEY_HELD', data))
}

/** What a call needs, computed once from the final arguments.
 *  @throws TOOLS_BAD_ANSWER, and what the definition throws */
function needOf({ entry, call, start }: AdmittedCall): Need {
  // The body of a definition that is gone will not run: nothing has to be kept free for it, and nothing of it is called.
  const overlap = entry.gone ? 'parallel' : (entry.definition.overlap ?? 'exclusive')
  if (overlap === 'exclusive') return exclusive
  if (overlap === 'parallel') return parallel
  const keys: unknown = overlap(call.args, start.session)
  const problem = 'the answer is not { reads, writes } with lists of texts'
  const bad = () => toolsErrors('TOOLS_BAD_ANSWER', { event: `overlap of ${start.tool}`, problem })
  if (keys === null || typeof keys !== 'object' || isPromise(keys)) throw bad()
  const { reads, writes } = keys as Record<keyof Keys, unknown>
  const list = (given: unknown): string[] => {
    if (given === undefined) return []
    if (!Array.isArray(given) || !given.every((key) => typeof key === 'string')) throw bad()
    return given
  }
  return { reads: new Set([everything, ...list(reads)]), writes: new Set(list(writes)) }
}

/** Takes the call's slot; a promise only when it has to wait. */
export function takeSlot(state: AdmittedCall): Promise<void> | undefined {
  const { slots, id, tool, source, machine } = state.start
  const since = machine.clock.monotonic()
  let slot: Holder | Promise<Holder>
  try {
    slot = slots.take(`${tool} ${id}`, needOf(state), source)
  } catch (error) {
    throw failureOf(error, state.entry.plugin)
  }
  if (!(slot instanceof Promise)) return void (state.slot = slot)
  return slot.then((holder) => {
    state.slot = holder
    state.queuedMs = machine.clock.monotonic() - since
  })
}

/** Gives the call's slot back, if it has one; the keys only when no body of it runs any more. */
export function leaveSlot(state: CallState): void {
  const { slot } = state
  if (!slot) return
  state.slot = undefined
  slot.slots.leave(slot, state.lingers)
  if (state.lingers) state.whenBodiesEnd(() => slot.slots.ended(slot))
}
