/** Owns looking at a simulated volume, and placing files on it, without operations. */
import type { DiskCore } from './disk-core.ts'
import { Content, cloneInode, type Inode, type InodeKind, ROOT_INO, type Volume } from './volume.ts'
import { walk } from './walk.ts'

/** Text or bytes of a file, `null` for a directory, or the long form. */
export type FileSeed =
  | string
  | Uint8Array
  | null
  | { readonly link: string }
  | { readonly kind: 'fifo' | 'socket' | 'device' }
  | { readonly content: string | Uint8Array; readonly mode?: number; readonly uid?: number }
  | { readonly directory: true; readonly mode?: number; readonly uid?: number }
  | { readonly hardLink: string }

interface Shape {
  kind: InodeKind
  mode: number
  bytes?: Uint8Array
  target?: string
  uid?: number | undefined
}

const encode = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content

function shapeOf(seed: Exclude<FileSeed, { hardLink: string }>): Shape {
  if (seed === null) return { kind: 'directory', mode: 0o755 }
  if (typeof seed === 'string' || seed instanceof Uint8Array) return { kind: 'file', mode: 0o644, bytes: encode(seed) }
  if ('link' in seed) return { kind: 'symlink', mode: 0o777, target: seed.link }
  if ('kind' in seed) return { kind: seed.kind, mode: 0o644 }
  if ('directory' in seed) return { kind: 'directory', mode: seed.mode ?? 0o755, uid: seed.uid }
  return { kind: 'file', mode: seed.mode ?? 0o644, uid: seed.uid, bytes: encode(seed.content) }
}

export function plant(core: DiskCore, files: Readonly<Record<string, FileSeed>>): void {
  for (const [path, seed] of Object.entries(files)) {
    const parts = path.split('/').filter((part) => part !== '')
    for (let i = 1; i < parts.length; i++) {
      const parent = `/${parts.slice(0, i).join('/')}`
      if (!walk(core.volume, parent, 'plant', 0, 'leaf').inode) put(core, parent, null)
    }
    put(core, path, seed)
  }
}

function put(core: DiskCore, path: string, seed: FileSeed): void {
  const { dir, name, inode: there } = walk(core.volume, path, 'plant', 0, 'parents')
  if (there?.kind === 'directory' && seed === null) return
  const inode = makeInode(core, seed)
  const effect = { kind: 'names', set: [{ dir: dir.ino, name, ino: inode.ino }] } as const
  core.volume.apply(effect)
  core.journal.durable.apply(effect)
}

function makeInode(core: DiskCore, seed: FileSeed): Inode {
  if (seed !== null && typeof seed === 'object' && 'hardLink' in seed) {
    const known = walk(core.volume, seed.hardLink, 'plant', 0, 'parents').inode
    if (!known) throw new Error(`nothing to link to at ${seed.hardLink}`)
    return known
  }
  const shape = shapeOf(seed)
  const inode = core.makeInode(shape.kind, shape.mode, shape.target)
  inode.uid = shape.uid ?? inode.uid
  if (shape.bytes) inode.content = new Content(shape.bytes)
  core.journal.durable.add(cloneInode(inode))
  return inode
}

export function textOf(volume: Volume, path: string): string | undefined {
  let inode: Inode | undefined
  try {
    inode = walk(volume, path, 'text', 0, 'leaf').inode
  } catch {
    return undefined
  }
  return inode?.kind === 'file' ? new TextDecoder().decode(inode.content.bytes()) : undefined
}

export function treeOf(volume: Volume, root: string): Record<string, string | null> {
  const tree: Record<string, string | null> = Object.create(null) as Record<string, string | null>
  const visit = (inode: Inode, path: string): void => {
    if (inode.kind !== 'directory') {
      const text = new TextDecoder().decode(inode.content.bytes())
      tree[path] = inode.kind === 'symlink' ? `-> ${inode.target}` : text
      return
    }
    if (path !== root && inode.entries.size === 0) tree[path] = null
    const names = [...inode.entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const { name, ino } of names) visit(volume.inode(ino), path === '/' ? `/${name}` : `${path}/${name}`)
  }
  const start = root === '/' ? volume.inode(ROOT_INO) : walk(volume, root, 'tree', 0, 'leaf').inode
  if (start) visit(start, root)
  return tree
}
