/** Owns the command line of bubblewrap for one confinement. */
import { posix } from 'node:path'

/** Own users, processes, network and so on; nothing inside outlives the host. Capabilities go also for root. */
export const namespaces = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-ipc',
  '--unshare-cgroup-try',
  '--cap-drop',
  'ALL',
  '--die-with-parent',
  // A group of its own: what is sent to the group inside does not end bubblewrap.
  '--new-session',
]

export interface Mount {
  readonly path: string
  /** `pinned`: writable, but cannot be renamed or removed. `empty`: a read-only folder without content.
   *  `blank`: a file without content. */
  readonly as: 'read-only' | 'writable' | 'pinned' | 'empty' | 'blank' | 'devices' | 'processes'
  /** What is seen at `path`, where it is not the same path outside. */
  readonly from?: string
}

export function bubblewrapArguments(mounts: readonly Mount[], cwd: string): string[] {
  const whole: Mount = { path: '/', as: 'read-only' }
  // After a workspace that is the whole file system, which would show those of the host.
  const own: Mount[] = [
    { path: '/dev', as: 'devices' },
    { path: '/proc', as: 'processes' },
  ]
  return [...namespaces, ...parentsFirst([whole, ...own, ...mounts]).flatMap(mountArguments), '--chdir', cwd]
}

/** A mount covers what was mounted below it before. Of mounts on one path the later one counts. */
function parentsFirst(mounts: readonly Mount[]): Mount[] {
  const depth = ({ path }: Mount) => path.split('/').filter((part) => part !== '').length
  return mounts.toSorted((a, b) => depth(a) - depth(b))
}

function mountArguments({ path, as, from = path }: Mount): string[] {
  switch (as) {
    case 'read-only':
      return ['--ro-bind', from, path]
    case 'writable':
    case 'pinned':
      return ['--bind', from, path]
    case 'empty':
      return ['--tmpfs', path, '--remount-ro', path]
    case 'blank':
      return ['--ro-bind', '/dev/null', path]
    case 'devices':
      return ['--dev', path]
    case 'processes':
      return ['--proc', path]
  }
}

/** Folders between `root` and `path`, which would take `path` along if they were renamed. */
export function between(root: string, path: string): string[] {
  const folders: string[] = []
  for (let each = posix.dirname(path); isBelow(each, root); each = posix.dirname(each)) folders.push(each)
  return folders
}

/** `folder` itself is not below it. */
export function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === '/' ? '/' : `${folder}/`)
}
