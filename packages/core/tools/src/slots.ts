/** Owns how bodies of one session overlap: many readers or one writer per key. */
import { isPromise } from './asking.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { failureOf, StageFailure } from './failure.ts'
import { type Parallelism, Place } from './places.ts'
import type { CallState } from './state.ts'
import type { Keys } from './types.ts'

/** Every call reads this key, and an exclusive one writes it. */
const everything = '*'

interface Need {
  readonly reads: ReadonlySet<string>
  readonly writes: ReadonlySet<string>
}

interface Holder {
  readonly label: string
  readonly need: Need
  abandoned: boolean
}

interface Waiter {
  readonly label: string
  readonly need: Need
  readonly grant: (holder: Holder) => void
  readonly refuse: (failure: StageFailure) => void
}

/** The slots of one group of siblings. A call takes all its keys at once, so no two calls wait for each other. */
export class Slots {
  readonly parallelism: Parallelism
  private readonly holders = new Set<Holder>()
  private waiters: Waiter[] = []
  private offFree: (() => void) | undefined

  constructor(parallelism: Parallelism) {
    this.parallelism = parallelism
  }

  /** Waits behind every earlier call that needs one of the same keys. */
  acquire(
    label: string,
    need: Need,
    granted: (holder: Holder) => void,
    refused: (failure: StageFailure) => void,
  ): () => void {
    const waiter: Waiter = { label, need, grant: granted, refuse: refused }
    for (const holder of this.holders)
      if (holder.abandoned && collide(holder.need, need) !== undefined) {
        refused(held(holder, waiter))
        return () => {}
      }
    this.waiters.push(waiter)
    this.settle()
    return () => {
      this.waiters = this.waiters.filter((other) => other !== waiter)
      this.settle()
    }
  }

  release(holder: Holder): void {
    if (this.holders.delete(holder)) this.settle()
  }

  /** The body did not end: its keys stay taken, and those who need them are refused. */
  abandon(holder: Holder): void {
    holder.abandoned = true
    const refused = this.waiters.filter(({ need }) => collide(holder.need, need) !== undefined)
    this.waiters = this.waiters.filter((waiter) => !refused.includes(waiter))
    for (const waiter of refused) waiter.refuse(held(holder, waiter))
    this.settle()
  }

  /** Lets in whoever can start, in the order in which they came. */
  private settle(): void {
    const still: Waiter[] = []
    const ahead = { reads: new Set<string>(), writes: new Set<string>() }
    for (const [index, waiter] of this.waiters.entries()) {
      // Behind a full house, or behind one who waits for everything, nobody needs to be looked at.
      if (!this.parallelism.free || ahead.writes.has(everything)) {
        still.push(...this.waiters.slice(index))
        break
      }
      const { need } = waiter
      if (collide(ahead, need) === undefined && !this.taken(need)) {
        this.grant(waiter)
        continue
      }
      still.push(waiter)
      for (const key of need.reads) ahead.reads.add(key)
      for (const key of need.writes) ahead.writes.add(key)
    }
    this.waiters = still
    this.watchFree()
  }

  private taken(need: Need): boolean {
    for (const holder of this.holders) if (collide(holder.need, need) !== undefined) return true
    return false
  }

  private grant({ label, need, grant }: Waiter): void {
    const holder: Holder = { label, need, abandoned: false }
    this.holders.add(holder)
    this.parallelism.take()
    grant(holder)
  }

  private watchFree(): void {
    if (this.waiters.length > 0) this.offFree ??= this.parallelism.onFree(() => this.settle())
    else {
      this.offFree?.()
      this.offFree = undefined
    }
  }
}

/** A key that both need and at least one writes. */
function collide(a: Need, b: Need): string | undefined {
  for (const key of a.writes) if (b.writes.has(key) || b.reads.has(key)) return key
  for (const key of b.writes) if (a.reads.has(key)) return key
  return undefined
}

function held(holder: Holder, waiter: Waiter): StageFailure {
  const key = collide(holder.need, waiter.need) ?? everything
  const error = toolsErrors('TOOLS_KEY_HELD', { key: key === everything ? 'the session' : key, holder: holder.label })
  return new StageFailure('threw', holder.label, error.code, error.message)
}

/** What a call needs, computed once from the final arguments.
 *  @throws TOOLS_BAD_ANSWER, and what the definition throws */
function needOf(state: CallState): Need {
  const { definition, gone } = state.entry as Registered
  // The body of a definition that is gone will not run: nothing has to be kept free for it, and nothing of it is called.
  const overlap = gone ? 'parallel' : (definition.overlap ?? 'exclusive')
  if (overlap === 'exclusive') return { reads: new Set(), writes: new Set([everything]) }
  if (overlap === 'parallel') return { reads: new Set([everything]), writes: new Set() }
  const keys: unknown = overlap(state.args, state.start.session)
  const problem = 'the answer is not { reads, writes } with lists of texts'
  const bad = toolsErrors('TOOLS_BAD_ANSWER', { event: `overlap of ${state.start.tool}`, problem })
  if (keys === null || typeof keys !== 'object' || isPromise(keys)) throw bad
  const { reads, writes } = keys as Record<keyof Keys, unknown>
  const list = (given: unknown): string[] => {
    if (given === undefined) return []
    if (!Array.isArray(given) || !given.every((key) => typeof key === 'string')) throw bad
    return given
  }
  return { reads: new Set([everything, ...list(reads)]), writes: new Set(list(writes)) }
}

/** Takes the call's slot; a promise only when it has to wait. */
export function waitForSlot(state: CallState): Promise<void> | undefined {
  const { slots, id, tool, source, machine } = state.start
  let need: Need
  try {
    need = needOf(state)
  } catch (error) {
    throw failureOf(error, state.entry?.plugin ?? tool)
  }
  const since = machine.clock.monotonic()
  let waiting = true
  let refusal: StageFailure | undefined
  let wake: ((failure?: StageFailure) => void) | undefined
  const granted = (holder: Holder) => {
    waiting = false
    hold(state, slots, holder)
    state.queuedMs = wake ? machine.clock.monotonic() - since : 0
    wake?.()
  }
  const refused = (failure: StageFailure) => {
    waiting = false
    refusal = failure
    wake?.(failure)
  }
  const withdraw = slots.acquire(`${tool} ${id}`, need, granted, refused)
  if (refusal) throw refusal
  if (!waiting) return undefined
  return new Promise<void>((resolve, reject) => {
    const off = source.on(() => {
      withdraw()
      reject(new StageFailure('aborted', tool, '', 'aborted'))
    })
    wake = (failure) => {
      off()
      if (failure) reject(failure)
      else resolve()
    }
  })
}

function hold(state: CallState, slots: Slots, holder: Holder): void {
  const place = new Place(slots.parallelism)
  state.place = place
  state.release = () => {
    state.release = undefined
    place.end()
    if (!state.lingers) return slots.release(holder)
    slots.abandon(holder)
    state.whenBodiesEnd(() => slots.release(holder))
  }
}
