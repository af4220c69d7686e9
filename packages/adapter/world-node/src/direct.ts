/** Owns which calls to the disk are made at once, and which by way of another thread. */
import { readFile, realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

/** A call that took longer was not answered from memory, and everything else had to wait for it. */
const DIRECT_MS_MAX = 20
/** Calls that go by way of another thread after that. */
const THREADED_CALLS = 100
/** So many calls are made at once before everything else has had its turn; all others until then go by way of another thread. */
const IN_A_TURN_MAX = 200
/** For so long it is remembered where folders are: they may be moved, or something may be mounted over them. */
const KNOWN_MS = 1000
/** Folders that are remembered; beyond that they are asked again. */
const FOLDERS_MAX = 4096

/** File systems on a disk or in the memory of this machine, as Linux' `mountinfo` calls them (proc_pid_mountinfo(5)). Any
 *  other may wait for a network or a program, which may never answer. */
const LOCAL_TYPES = new Set(
  ['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'tmpfs', 'devtmpfs', 'ramfs', 'overlay'], //
)

/** Names that lead up. */
const UP = ['', '.', '..']

export class Direct {
  private readonly folders = new Map<string, boolean>()
  /** Each ends in a slash. */
  private farMounts: readonly string[] = []
  private farNames = new Set<string>()
  private looking: Promise<void> | undefined
  private lookedAt = Number.NEGATIVE_INFINITY
  private threaded = 0
  private inThisTurn = 0

  /** Whether nothing on the way to `path` is on any but a disk of this machine, nor what stands there: a link that stands
   *  there may lead elsewhere. Asked by way of another thread when it is not known. */
  isLocal(path: string): boolean | Promise<boolean> {
    if (!this.isKnown()) return this.look().then(() => this.isLocal(path))
    const folder = dirname(path)
    // A link is followed where the path ends in a slash.
    if (path.endsWith('/') || this.farNames.has(basename(path))) return false
    return this.folders.get(folder) ?? this.ask(folder)
  }

  /** Whether something far is mounted at or above a path without links; after {@link look}. */
  isFar(path: string): boolean {
    const at = `${path}/`
    return this.farMounts.some((mount) => at.startsWith(mount))
  }

  /** Looks at what is mounted where, unless that was done just now. */
  async look(): Promise<void> {
    if (this.isKnown()) return
    this.looking ??= this.readMounts().finally(() => (this.looking = undefined))
    await this.looking
  }

  /** Whether the next call may be made at once; told once per call. */
  isFree(): boolean {
    if (this.threaded > 0) {
      this.threaded--
      return false
    }
    if (this.inThisTurn === 0) setImmediate(() => (this.inThisTurn = 0))
    return ++this.inThisTurn <= IN_A_TURN_MAX
  }

  /** Makes the call now. One that took long has those after it go by way of another thread. */
  now<T>(call: () => T): T {
    const start = performance.now()
    try {
      return call()
    } finally {
      if (performance.now() - start > DIRECT_MS_MAX) this.threaded = THREADED_CALLS
    }
  }

  private isKnown(): boolean {
    return performance.now() - this.lookedAt < KNOWN_MS
  }

  private async readMounts(): Promise<void> {
    this.farMounts = await farMounts()
    this.farNames = new Set([...UP, ...this.farMounts.map((mount) => basename(mount))])
    this.folders.clear()
    this.lookedAt = performance.now()
  }

  private async ask(folder: string): Promise<boolean> {
    try {
      // A link on the way may lead by what is far.
      const isLocal = !this.isFar(folder) && (await realpath(folder)) === folder
      if (this.folders.size >= FOLDERS_MAX) this.folders.clear()
      this.folders.set(folder, isLocal)
      return isLocal
    } catch {
      // It does not exist, yet.
      return false
    }
  }
}

/** Where something is mounted that is not on a disk of this machine; everywhere, when nobody tells. */
async function farMounts(): Promise<string[]> {
  try {
    const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
    return lines.flatMap((line) => {
      const [mount, type] = /^(?:\S+ ){4}(\S+) .* - (\S+) /.exec(line)?.slice(1) ?? []
      return mount === undefined || LOCAL_TYPES.has(type ?? '') ? [] : [`${unescaped(mount)}/`.replace(/\/+$/, '/')]
    })
  } catch {
    return ['/']
  }
}

/** Blanks, line ends and backslashes are written as octal numbers. */
function unescaped(mount: string): string {
  return mount.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
