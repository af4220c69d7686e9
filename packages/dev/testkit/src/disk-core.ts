/** Owns the machinery behind the simulated disk's operations: turns, faults, limits, and the journal they go through. */
import type { FileStat } from '@sluice/base'
import { type DiskOp, Faults } from './faults.ts'
import { Journal } from './journal.ts'
import { Content, type Inode, type InodeKind, type NameChange, type Volume } from './volume.ts'
import { diskError, mayAccess } from './walk.ts'

export interface DiskSettings {
  readonly now: () => number
  /** Who the process is; 0 may do everything. */
  readonly uid: number
  readonly umask: number
  /** Called before each operation; what it returns is awaited. Shuffles concurrent operations. */
  readonly schedule: () => Promise<void>
  /** Told of each operation. */
  readonly onActivity: () => void
  /** `'none'`: a sync makes nothing durable, as on a device that lies. */
  readonly fsync: 'honest' | 'none'
}

export class DiskCore {
  readonly settings: DiskSettings
  readonly volume: Volume
  readonly journal: Journal
  readonly faults = new Faults()
  /** Bytes that all files together may hold. */
  bytesMax: number | undefined
  readOnly = false
  openFiles = 0
  private nextIno: number

  constructor(settings: DiskSettings, volume: Volume) {
    this.settings = settings
    this.volume = volume
    this.journal = new Journal(volume, volume.reachable())
    this.nextIno = Math.max(...volume.inodes.keys()) + 1
  }

  get mark(): number {
    return this.journal.mark
  }

  /** Runs one operation: waits for its turn, then all of it happens at once. */
  async step<T>(op: DiskOp, path: string, body: () => T): Promise<T> {
    this.faults.alive()
    this.settings.onActivity()
    await this.settings.schedule()
    const held = this.faults.held(op)
    if (held) await held
    this.faults.alive()
    this.settings.onActivity()
    if (!isEffect(op)) this.faults.check(op, path)
    return body()
  }

  makeInode(kind: InodeKind, mode: number, target = ''): Inode {
    const now = this.settings.now()
    const { uid } = this.settings
    const stamps = { mtimeMs: now, ctimeMs: now }
    const content = new Content(new TextEncoder().encode(target))
    const inode = {
      ino: this.nextIno++,
      kind,
      target,
      mode,
      uid,
      gid: uid,
      links: 0,
      ...stamps,
      content,
      entries: new Map(),
    }
    this.journal.addInode(inode)
    return inode
  }

  statOf(inode: Inode): FileStat {
    const { kind, mode, uid, gid, links, mtimeMs, ctimeMs } = inode
    const size = kind === 'directory' ? 4096 : inode.content.size
    return { kind, size, mode, uid, gid, dev: 1n, ino: BigInt(inode.ino), links, mtimeMs, ctimeMs }
  }

  require(inode: Inode, access: 'read' | 'write', op: string, path: string): void {
    if (!mayAccess(inode, this.settings.uid, access)) throw diskError('EACCES', op, path)
  }

  assertNotReadOnly(op: string, path: string): void {
    if (this.readOnly) throw diskError('EROFS', op, path)
  }

  /** Changes names in directories the process may write to. */
  setNames(op: DiskOp, path: string, changes: readonly NameChange[]): void {
    this.assertNotReadOnly(op, path)
    for (const change of changes) this.require(this.volume.inode(change.dir), 'write', op, path)
    this.faults.effect(op, path)
    this.journal.commit({ kind: 'names', set: changes })
    const now = this.settings.now()
    for (const change of changes) {
      const dir = this.volume.inode(change.dir)
      dir.mtimeMs = now
      dir.ctimeMs = now
    }
  }

  writeTo(inode: Inode, path: string, bytes: Uint8Array, position: number): void {
    this.assertNotReadOnly('write', path)
    const put = (count: number) => {
      if (count === 0) return
      this.journal.commit({ kind: 'write', ino: inode.ino, position, bytes: bytes.slice(0, count) })
      this.touch(inode)
    }
    this.faults.effect('write', path, bytes.length, put)
    const growth = Math.max(0, position + bytes.length - inode.content.size)
    const room = this.bytesMax === undefined ? growth : Math.max(0, this.bytesMax - this.bytesUsed())
    if (room < growth) {
      put(Math.max(0, Math.min(bytes.length, inode.content.size + room - position)))
      throw diskError('ENOSPC', 'write', path)
    }
    put(bytes.length)
  }

  resize(inode: Inode, path: string, size: number): void {
    this.assertNotReadOnly('truncate', path)
    this.faults.effect('truncate', path)
    this.journal.commit({ kind: 'resize', ino: inode.ino, size })
    this.touch(inode)
  }

  setMeta(
    op: 'chmod' | 'chown',
    inode: Inode,
    path: string,
    change: { mode?: number; uid?: number; gid?: number },
  ): void {
    this.assertNotReadOnly(op, path)
    const { uid } = this.settings
    const giving = change.uid !== undefined && (change.uid !== inode.uid || change.gid !== inode.gid)
    if (uid !== 0 && (inode.uid !== uid || giving)) throw diskError('EPERM', op, path)
    this.faults.effect(op, path)
    this.journal.commit({ kind: 'meta', ino: inode.ino, ...change })
    inode.ctimeMs = this.settings.now()
  }

  syncFile(op: 'datasync' | 'sync', inode: Inode, path: string, mark: number): void {
    this.faults.effect(op, path, undefined, () => this.journal.dropData(inode.ino, mark))
    if (this.settings.fsync === 'none') return
    if (inode.kind === 'directory') this.journal.persistNames(inode.ino, mark)
    this.journal.persistFile(inode.ino, mark, op === 'sync' ? 'all' : 'data')
  }

  syncNames(dir: Inode, path: string, mark: number): void {
    this.faults.effect('syncDir', path)
    if (this.settings.fsync === 'honest') this.journal.persistNames(dir.ino, mark)
  }

  private touch(inode: Inode): void {
    inode.mtimeMs = this.settings.now()
    inode.ctimeMs = inode.mtimeMs
  }

  private bytesUsed(): number {
    let bytes = 0
    for (const inode of this.volume.inodes.values()) if (inode.links > 0) bytes += inode.content.size
    return bytes
  }
}

const reads: ReadonlySet<DiskOp> = new Set<DiskOp>([
  'open',
  'read',
  'stat',
  'lstat',
  'realpath',
  'readlink',
  'readdir',
  'close',
])

function isEffect(op: DiskOp): boolean {
  return !reads.has(op)
}
