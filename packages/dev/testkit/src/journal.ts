/** Owns what is durable on a simulated disk: effects wait here until a sync, or until a crash picks which ones survive. */
import { Content, type Effect, type Inode, cloneInode, type Volume } from './volume.ts'

/** Effects waiting for a sync; beyond it the oldest are written back, as a kernel does. */
export const UNSYNCED_MAX = 100_000

/** An effect that no sync has made durable yet. */
export interface Unsynced {
  readonly order: number
  readonly effect: Effect
}

/** What a crash keeps of one effect: all, nothing, the first bytes of a write, or only the size of a write (zeros). */
export type Kept = boolean | number | 'zeros'

export type Chooser = (effect: Effect, index: number) => Kept

/** Which unsynced effects survive a crash: none, all, the first so many, or each as a function says. */
export type Keep = 'none' | 'all' | number | Chooser

export class Journal {
  readonly durable: Volume
  private readonly live: Volume
  private unsynced: Unsynced[] = []
  private order = 0

  /** Both volumes hold the same state. */
  constructor(live: Volume, durable: Volume) {
    this.live = live
    this.durable = durable
  }

  /** The last order number given; what a sync that starts now covers. */
  get mark(): number {
    return this.order
  }

  get waiting(): readonly Unsynced[] {
    return this.unsynced
  }

  addInode(inode: Inode): void {
    this.live.add(inode)
    this.durable.add(cloneInode(inode))
  }

  commit(effect: Effect): void {
    this.live.apply(effect)
    this.unsynced.push({ order: ++this.order, effect })
    if (this.unsynced.length > UNSYNCED_MAX) {
      for (const each of this.unsynced.splice(0, UNSYNCED_MAX / 2)) this.durable.apply(each.effect)
    }
  }

  /** Content and size (with `all`: mode and owner too) of a file become durable, as far as `mark`. */
  persistFile(ino: number, mark: number, what: 'data' | 'all'): void {
    this.persist(
      ({ effect, order }) => order <= mark && isOf(effect, ino) && (what === 'all' || effect.kind !== 'meta'),
    )
  }

  /** Names of a directory become durable, with what happened before in a directory that shares a rename. */
  persistNames(dir: number, mark: number): void {
    const dirs = new Set([dir])
    const chosen = new Set<number>()
    for (let i = this.unsynced.length - 1; i >= 0; i--) {
      const { effect, order } = this.unsynced[i] as Unsynced
      if (order > mark || effect.kind !== 'names' || !effect.set.some((change) => dirs.has(change.dir))) continue
      chosen.add(order)
      for (const change of effect.set) dirs.add(change.dir)
    }
    this.persist(({ order }) => chosen.has(order))
  }

  /** After a failed sync: what was to be written is gone, the content is what was durable plus what came later. */
  dropData(ino: number, mark: number): void {
    this.unsynced = this.unsynced.filter(
      (each) => each.order > mark || each.effect.kind === 'meta' || !isOf(each.effect, ino),
    )
    const inode = this.live.inode(ino)
    inode.content = new Content(this.durable.inode(ino).content.bytes())
    for (const { effect } of this.unsynced) if (effect.kind !== 'meta' && isOf(effect, ino)) this.live.apply(effect)
  }

  private persist(covered: (each: Unsynced) => boolean): void {
    const rest: Unsynced[] = []
    for (const each of this.unsynced) {
      if (covered(each)) this.durable.apply(each.effect)
      else rest.push(each)
    }
    this.unsynced = rest
  }

  /** The volume as it would be found after a crash now. */
  survivors(keep: Keep): Volume {
    const found = this.durable.reachable()
    // Files whose names are kept below are not reachable yet.
    for (const [ino, inode] of this.durable.inodes)
      if (!found.inodes.has(ino)) found.add({ ...cloneInode(inode), links: 0 })
    const choose: Chooser =
      typeof keep === 'function' ? keep : (_, index) => keep === 'all' || (typeof keep === 'number' && index < keep)
    for (const [index, { effect }] of this.unsynced.entries()) keepPart(found, effect, choose(effect, index))
    return found.reachable()
  }
}

function isOf(effect: Effect, ino: number): boolean {
  return effect.kind !== 'names' && effect.ino === ino
}

function keepPart(volume: Volume, effect: Effect, kept: Kept): void {
  if (kept === false) return
  if (kept === true || effect.kind !== 'write') return volume.apply(effect)
  if (kept === 'zeros') {
    const { content } = volume.inode(effect.ino)
    return content.resize(Math.max(content.size, effect.position + effect.bytes.length))
  }
  volume.apply({ ...effect, bytes: effect.bytes.subarray(0, kept) })
}
