/** Owns what goes wrong on a simulated disk: counted effects, crashes, injected errors, held operations. */
import { diskError } from './walk.ts'

/** Every kind of disk operation; those of {@link effectOps} change something and are counted. */
export type DiskOp =
  | 'create'
  | 'write'
  | 'truncate'
  | 'chmod'
  | 'chown'
  | 'datasync'
  | 'sync'
  | 'syncDir'
  | 'mkdir'
  | 'rename'
  | 'link'
  | 'symlink'
  | 'unlink'
  | 'rmdir'
  | 'open'
  | 'read'
  | 'stat'
  | 'lstat'
  | 'realpath'
  | 'readlink'
  | 'readdir'
  | 'close'

/** Thrown by every operation from the crash on. Not a `DiskError`: nothing may handle it as an expected failure. */
export class SimCrash extends Error {
  override readonly name = 'SimCrash'
  constructor(effect: number) {
    super(`the simulated machine died before disk effect ${effect}`)
  }
}

/** One counted effect, for assertions about order. */
export interface EffectRecord {
  readonly op: DiskOp
  readonly path: string
  /** Bytes of a write. */
  readonly bytes?: number
}

/** Records kept for assertions; counting goes on beyond it. */
export const RECORDS_MAX = 100_000

interface Injected {
  readonly op: DiskOp
  readonly code: string
  readonly path: string | undefined
  /** Bytes that a failing write leaves behind. */
  readonly partialBytes: number
  left: number
}

export interface FailOptions {
  /** How many operations in a row fail. Default 1. */
  readonly times?: number
  /** Only operations on this path. */
  readonly path?: string
  readonly partialBytes?: number
}

export class Faults {
  readonly records: EffectRecord[] = []
  count = 0
  crashAt: number | undefined
  dead: SimCrash | undefined
  readonly crashed: Promise<void>
  private announceCrash!: () => void
  private readonly failAt = new Map<number, string>()
  private readonly injected: Injected[] = []
  private readonly holds = new Map<DiskOp, { promise: Promise<void>; count: number }>()

  constructor() {
    this.crashed = new Promise((resolve) => {
      this.announceCrash = resolve
    })
  }

  alive(): void {
    if (this.dead) throw this.dead
  }

  /** From now on every operation throws. */
  die(effect = this.count + 1): SimCrash {
    this.dead ??= new SimCrash(effect)
    this.announceCrash()
    return this.dead
  }

  failEffect(effect: number, code: string): void {
    this.failAt.set(effect, code)
  }

  failNext(op: DiskOp, code: string, options: FailOptions = {}): void {
    const { times = 1, path, partialBytes = 0 } = options
    this.injected.push({ op, code, path, partialBytes, left: times })
  }

  /** Throws an injected failure of `op`. `onFail` sees how many bytes a failing write leaves. */
  check(op: DiskOp, path: string, onFail?: (partialBytes: number) => void): void {
    const index = this.injected.findIndex((each) => each.op === op && (each.path === undefined || each.path === path))
    const fault = this.injected[index]
    if (!fault) return
    if (--fault.left === 0) this.injected.splice(index, 1)
    onFail?.(fault.partialBytes)
    throw diskError(fault.code, op, path)
  }

  /** Counts an effect that is about to happen. Throws when the machine dies before it, or it is to fail. */
  effect(op: DiskOp, path: string, bytes?: number, onFail?: (partialBytes: number) => void): void {
    this.alive()
    const number = ++this.count
    if (this.crashAt !== undefined && number >= this.crashAt) throw this.die(number)
    if (this.records.length < RECORDS_MAX) this.records.push({ op, path, ...(bytes === undefined ? {} : { bytes }) })
    const code = this.failAt.get(number)
    if (code !== undefined) {
      onFail?.(0)
      throw diskError(code, op, path)
    }
    this.check(op, path, onFail)
  }

  /** Operations of this kind wait until the returned function is called. */
  hold(op: DiskOp): () => void {
    let release!: () => void
    const promise = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = { promise, count: 0 }
    this.holds.set(op, held)
    return () => {
      if (this.holds.get(op) === held) this.holds.delete(op)
      release()
    }
  }

  held(op: DiskOp): Promise<void> | undefined {
    return this.holds.get(op)?.promise
  }
}
