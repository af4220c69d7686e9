/** Owns how bodies of one session overlap: many readers or one writer per key, and a bound on all. */
import { toolsErrors } from './errors.ts'
import { failureOf, StageFailure } from './failure.ts'
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

/** Counts the bodies that run without running children. Shared by a session's calls and all their nested calls. */
export class Parallelism {
  readonly max: number
  private running = 0
  private readonly queues = new Set<() => void>()

  constructor(max: number) {
    this.max = max
  }

  get free(): boolean {
    return this.running < this.max
  }

  take(): void {
    this.running++
  }

  give(): void {
    this.running--
    for (const wake of Array.from(this.queues)) wake()
  }

  onFree(wake: () => void): () => void {
    this.queues.add(wake)
    return () => this.queues.delete(wake)
  }
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
    this.waiters.push(waiter)
    this.settle()
    return () => {
      this.waiters = this.waiters.filter((other) => other !== waiter)
      this.settle()
    }
  }

  release(holder: Holder): void {
    if (!this.holders.delete(holder)) return
    this.settle()
  }

  /** The body did not end: its keys stay taken, and those who need them are refused. */
  abandon(holder: Holder): void {
    holder.abandoned = true
    this.settle()
  }

  private settle(): void {
    const still: Waiter[] = []
    for (const waiter of this.waiters) {
      const blocker = [...this.holders].find((holder) => collide(holder.need, waiter.need) !== undefined)
      if (blocker?.abandoned) waiter.refuse(held(blocker, waiter))
      else if (blocker || still.some((earlier) => collide(earlier.need, waiter.need) !== undefined)) still.push(waiter)
      else if (!this.parallelism.free) still.push(waiter)
      else {
        const holder: Holder = { label: waiter.label, need: waiter.need, abandoned: false }
        this.holders.add(holder)
        this.parallelism.take()
        waiter.grant(holder)
      }
    }
    this.waiters = still
    this.watchFree()
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

/** What a call needs, computed once from the final arguments. */
function needOf(state: CallState): Need {
  const overlap = state.entry?.definition.overlap ?? 'exclusive'
  if (overlap === 'exclusive') return { reads: new Set(), writes: new Set([everything]) }
  if (overlap === 'parallel') return { reads: new Set([everything]), writes: new Set() }
  const keys: Keys = overlap(state.args, state.start.session)
  return { reads: new Set([everything, ...(keys.reads ?? [])]), writes: new Set(keys.writes ?? []) }
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
  let counted = true
  state.release = () => {
    state.release = undefined
    if (counted) slots.parallelism.give()
    counted = false
    if (state.body.running === 0) return slots.release(holder)
    slots.abandon(holder)
    state.onBodyEnd = () => slots.release(holder)
  }
  state.uncount = (children) => {
    if (children > 0 === !counted || state.release === undefined) return
    counted = children === 0
    if (counted) slots.parallelism.take()
    else slots.parallelism.give()
  }
}
