/** Owns the simulated disk as a test sees it: crashes, injected errors, limits, and a record of what happened. */
import { DiskCore, type DiskSettings } from './disk-core.ts'
import { DiskPort } from './disk-port.ts'
import type { DiskOp, EffectRecord, FailOptions } from './faults.ts'
import type { Keep } from './journal.ts'
import { type FileSeed, plant, textOf, treeOf } from './seed.ts'
import { Content, type Effect, type Naming, ROOT_INO, Volume } from './volume.ts'

export class SimDisk extends DiskPort {
  static create(settings: DiskSettings, naming: Naming): SimDisk {
    const volume = new Volume(naming)
    const now = settings.now()
    const root = {
      ino: ROOT_INO,
      kind: 'directory' as const,
      target: '',
      mode: 0o755,
      uid: settings.uid,
      gid: settings.uid,
    }
    volume.add({ ...root, links: 1, mtimeMs: now, ctimeMs: now, content: new Content(), entries: new Map() })
    return new SimDisk(new DiskCore(settings, volume))
  }

  /** Effects so far. */
  get effectCount(): number {
    return this.core.faults.count
  }

  /** Effects in order, for assertions such as "the file was synced before it was renamed". */
  get effects(): readonly EffectRecord[] {
    return this.core.faults.records
  }

  /** Files that are open. */
  get openFiles(): number {
    return this.core.openFiles
  }

  /** Places files as if they had always been there: durable, uncounted. */
  plant(files: Readonly<Record<string, FileSeed>>): void {
    plant(this.core, files)
  }

  /** The text of a file now, or `undefined`; no operation, no effect. */
  text(path: string): string | undefined {
    return textOf(this.core.volume, path)
  }

  /** Every path with its text (`null` for a directory, `-> target` for a symlink), for whole-tree comparisons. */
  tree(root = '/'): Record<string, string | null> {
    return treeOf(this.core.volume, root)
  }

  /** The effect numbered `effect` (from 1, counted over the life of this disk) and all after it throw `SimCrash`. */
  crashAt(effect: number): void {
    this.core.faults.crashAt = effect
  }

  /** The effect numbered `effect` fails with `code` and changes nothing (a failed sync drops what it was to write). */
  failAt(effect: number, code: string): void {
    this.core.faults.failEffect(effect, code)
  }

  /** The next operation of this kind fails with `code`. */
  failNext(op: DiskOp, code: string, options?: FailOptions): void {
    this.core.faults.failNext(op, code, options)
  }

  /** Operations of this kind wait until the returned function is called. */
  hold(op: DiskOp): () => void {
    return this.core.faults.hold(op)
  }

  /** A full disk: files may hold so many bytes together; `undefined` lifts the limit. */
  limit(bytesMax: number | undefined): void {
    this.core.bytesMax = bytesMax
  }

  /** Every change is refused with EROFS while true. */
  setReadOnly(readOnly: boolean): void {
    this.core.readOnly = readOnly
  }

  /** Resolves when the machine has died. */
  get crashed(): Promise<void> {
    return this.core.faults.crashed
  }

  /** Effects that a crash now could lose, in order. */
  get unsynced(): readonly Effect[] {
    return this.core.journal.waiting.map((each) => each.effect)
  }

  /** The disk as it is found after power was lost now; may be asked again with another choice. This one is dead afterwards. */
  afterCrash(options: { readonly keep: Keep; readonly settings?: DiskSettings }): SimDisk {
    this.core.faults.die()
    const survivors = this.core.journal.survivors(options.keep)
    // Whether times survive is the disk's affair; that they do says most about what is lost.
    for (const inode of survivors.inodes.values()) {
      const { mtimeMs, ctimeMs } = this.core.volume.inodes.get(inode.ino) ?? inode
      Object.assign(inode, { mtimeMs, ctimeMs })
    }
    return new SimDisk(new DiskCore(options.settings ?? this.core.settings, survivors))
  }
}
