/** Owns what is protected for a session: no more than a program can be started with, and what was found first stays. */
import { posix } from 'node:path'

/** Each protected path is mounted, and each folder between it and the root is held in its place. So many cost bubblewrap about a
 *  second at each start, twice as many four; it takes 9,000 arguments, of which a mount takes up to four. */
const MOUNTS_MAX = 1_000

/** Bytes of all these paths, each given twice: Linux takes 2 MB of arguments. */
const BYTES_MAX = 500_000

const encoder = new TextEncoder()

export class Protection {
  readonly paths = new Set<string>()
  /** Those where only a file may stand for what is not there, by what it must hold. */
  readonly standIns = new Map<string, string>()
  private readonly held = new Set<string>()
  private mounts = 0
  private bytes = 0

  /** False where there is no room for the path and the folders between `root` and it. */
  add(root: string, path: string, content?: string): boolean {
    if (this.paths.has(path)) return true
    const folders = between(root, path).filter((folder) => !this.held.has(folder))
    // A file that stands for another has a folder beside it.
    const own = content === undefined ? [path] : [path, path]
    const mounts = this.mounts + own.length + folders.length
    let bytes = this.bytes
    for (const each of [...own, ...folders]) bytes += encoder.encode(each).length
    if (mounts > MOUNTS_MAX || bytes > BYTES_MAX) return false
    this.mounts = mounts
    this.bytes = bytes
    for (const folder of folders) this.held.add(folder)
    this.paths.add(path)
    if (content !== undefined) this.standIns.set(path, content)
    return true
  }
}

function between(root: string, path: string): string[] {
  const folders: string[] = []
  for (let each = posix.dirname(path); each.length > root.length; each = posix.dirname(each)) folders.push(each)
  return folders
}
