/** Owns the state of a simulated volume: inodes, names, and the effects that change them. */

export type InodeKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device'

export interface Inode {
  readonly ino: number
  readonly kind: InodeKind
  /** Target of a symlink. */
  readonly target: string
  mode: number
  uid: number
  gid: number
  links: number
  mtimeMs: number
  ctimeMs: number
  content: Content
  /** Of a directory: by folded name. */
  readonly entries: Map<string, { name: string; ino: number }>
}

/** A file's bytes in a buffer that grows by doubling. */
export class Content {
  private buffer: Uint8Array
  size: number

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.buffer = bytes.slice()
    this.size = bytes.length
  }

  write(bytes: Uint8Array, position: number): void {
    if (bytes.length === 0) return
    if (position + bytes.length > this.size) this.resize(position + bytes.length)
    this.buffer.set(bytes, position)
  }

  resize(size: number): void {
    if (size > this.buffer.length) {
      const grown = new Uint8Array(Math.max(size, this.buffer.length * 2))
      grown.set(this.buffer.subarray(0, this.size))
      this.buffer = grown
    } else if (size < this.size) this.buffer.fill(0, size, this.size)
    this.size = size
  }

  read(into: Uint8Array, position: number): number {
    const piece = this.buffer.subarray(position, Math.min(this.size, position + into.length))
    into.set(piece)
    return piece.length
  }

  /** A copy of all bytes. */
  bytes(): Uint8Array {
    return this.buffer.slice(0, this.size)
  }
}

/** A change of the volume. `names` sets or (with `ino` undefined) removes directory entries, all at once. */
export type Effect =
  | { readonly kind: 'write'; readonly ino: number; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: 'resize'; readonly ino: number; readonly size: number }
  | {
      readonly kind: 'meta'
      readonly ino: number
      readonly mode?: number
      readonly uid?: number
      readonly gid?: number
    }
  | { readonly kind: 'names'; readonly set: readonly NameChange[] }

export interface NameChange {
  readonly dir: number
  readonly name: string
  readonly ino: number | undefined
}

/** How a volume compares names: byte by byte, or ignoring case and Unicode form while keeping the first spelling. */
export type Naming = 'exact' | 'folding'

export const ROOT_INO = 2

export class Volume {
  readonly naming: Naming
  readonly inodes = new Map<number, Inode>()

  constructor(naming: Naming) {
    this.naming = naming
  }

  key(name: string): string {
    return this.naming === 'exact' ? name : name.normalize('NFC').toLowerCase().normalize('NFC')
  }

  add(inode: Inode): void {
    this.inodes.set(inode.ino, inode)
  }

  inode(ino: number): Inode {
    const inode = this.inodes.get(ino)
    if (!inode) throw new Error(`no inode ${ino} on the simulated volume`)
    return inode
  }

  apply(effect: Effect): void {
    if (effect.kind === 'names') {
      for (const change of effect.set) this.setName(change)
      return
    }
    const inode = this.inode(effect.ino)
    if (effect.kind === 'write') inode.content.write(effect.bytes, effect.position)
    else if (effect.kind === 'resize') inode.content.resize(effect.size)
    else {
      inode.mode = effect.mode ?? inode.mode
      inode.uid = effect.uid ?? inode.uid
      inode.gid = effect.gid ?? inode.gid
    }
  }

  private setName({ dir, name, ino }: NameChange): void {
    const { entries } = this.inode(dir)
    const key = this.key(name)
    const before = entries.get(key)
    if (before) this.inode(before.ino).links--
    if (ino === undefined) entries.delete(key)
    else {
      entries.set(key, { name, ino })
      this.inode(ino).links++
    }
  }

  /** A deep copy that holds only what can be reached from the root, with links counted anew. */
  reachable(): Volume {
    const copy = new Volume(this.naming)
    const visit = (ino: number): void => {
      const known = copy.inodes.get(ino)
      if (known) {
        known.links++
        return
      }
      const inode = cloneInode(this.inode(ino))
      inode.links = 1
      copy.add(inode)
      for (const entry of inode.entries.values()) visit(entry.ino)
    }
    visit(ROOT_INO)
    return copy
  }
}

export function cloneInode(inode: Inode): Inode {
  const entries = new Map([...inode.entries].map(([key, entry]) => [key, { ...entry }]))
  return { ...inode, content: new Content(inode.content.bytes()), entries }
}
