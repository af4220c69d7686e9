/** Owns path resolution on a simulated volume: components, symlinks, search permission. */
import { DiskError } from '@sluice/base'
import { type Inode, ROOT_INO, type Volume } from './volume.ts'

const LINKS_MAX = 40
const NAME_BYTES_MAX = 255
const PATH_BYTES_MAX = 4096

/** Where a path leads: the directory and name of its last component, and what is there. */
export interface Place {
  readonly dir: Inode
  /** As stored where the entry exists, as given where it does not. Empty for the root. */
  readonly name: string
  readonly inode: Inode | undefined
  /** Real path of the place. */
  readonly path: string
  /** Inodes of the directories from the root to `dir`. */
  readonly above: readonly number[]
  /** The path ended in a slash, so only a directory will do. */
  readonly wantsDirectory: boolean
}

export function diskError(code: string, op: string, path?: string): DiskError {
  return new DiskError(code, `${code}: ${op}${path === undefined ? '' : ` '${path}'`}`, path)
}

export type Access = 'read' | 'write' | 'search'

/** Whether a process of `uid` may do `access`; 0 may do everything. */
export function mayAccess(inode: Inode, uid: number, access: Access): boolean {
  if (uid === 0) return true
  const bit = access === 'read' ? 4 : access === 'write' ? 2 : 1
  return ((inode.uid === uid ? inode.mode >> 6 : inode.mode) & bit) !== 0
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Resolves all but the last component; the last too when `follow` is `'leaf'` and it is a symlink. */
export function walk(volume: Volume, path: string, op: string, uid: number, follow: 'leaf' | 'parents'): Place {
  const fail = (code: string) => diskError(code, op, path)
  if (!path.startsWith('/')) throw new Error(`not an absolute path: ${path}`)
  if (path.includes('\0')) throw fail('EINVAL')
  if (bytesOf(path) >= PATH_BYTES_MAX) throw fail('ENAMETOOLONG')
  const wantsDirectory = path.endsWith('/') || path.endsWith('/.')
  let stack: { inode: Inode; name: string }[] = [{ inode: volume.inode(ROOT_INO), name: '' }]
  let rest = path.split('/').filter((part) => part !== '' && part !== '.')
  let links = 0
  let leaf: { name: string; inode: Inode | undefined } | undefined
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const dir = (stack.at(-1) as { inode: Inode }).inode
    if (dir.kind !== 'directory') throw fail('ENOTDIR')
    if (!mayAccess(dir, uid, 'search')) throw fail('EACCES')
    if (part === '..') {
      if (stack.length > 1) stack.pop()
      continue
    }
    if (bytesOf(part) > NAME_BYTES_MAX) throw fail('ENAMETOOLONG')
    const entry = dir.entries.get(volume.key(part))
    const inode = entry && volume.inode(entry.ino)
    if (inode?.kind === 'symlink' && (rest.length > 0 || follow === 'leaf' || wantsDirectory)) {
      if (++links > LINKS_MAX) throw fail('ELOOP')
      if (inode.target.startsWith('/')) stack = stack.slice(0, 1)
      rest = [...inode.target.split('/').filter((each) => each !== '' && each !== '.'), ...rest]
      continue
    }
    if (!inode) {
      if (rest.length > 0) throw fail('ENOENT')
      leaf = { name: part, inode: undefined }
      break
    }
    stack.push({ inode, name: entry.name })
  }
  if (!leaf) {
    const top = stack.at(-1) as { inode: Inode; name: string }
    if (stack.length > 1) stack.pop()
    leaf = top
  }
  const names = stack.slice(1).map((each) => each.name)
  if (leaf.name !== '') names.push(leaf.name)
  const dir = (stack.at(-1) as { inode: Inode }).inode
  if (wantsDirectory && leaf.inode && leaf.inode.kind !== 'directory') throw fail('ENOTDIR')
  return { dir, ...leaf, path: `/${names.join('/')}`, above: stack.map((each) => each.inode.ino), wantsDirectory }
}
