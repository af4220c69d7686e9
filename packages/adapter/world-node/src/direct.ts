/** Owns which calls to the disk are made at once, and which by way of another thread. */
import { statfs } from 'node:fs/promises'

/** A call that took longer was not answered from memory, and everything else had to wait for it. */
const DIRECT_MS_MAX = 20
/** Calls that go by way of another thread after that. */
const THREADED_CALLS = 100
/** One call in so many goes by way of another thread, because nothing else gets its turn before that. */
const IN_A_ROW_MAX = 200
/** Folders that are remembered; beyond that they are asked again. */
const FOLDERS_MAX = 4096

/** Types of file systems on a disk or in the memory of this machine, by Linux' `statfs(2)`: ext, XFS, Btrfs, tmpfs, ramfs,
 *  overlay, ZFS, F2FS. Any other may wait for a network or a program, which may never answer. */
const LOCAL_TYPES = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x858458f6, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
])

export class Direct {
  private readonly folders = new Map<string, boolean>()
  private threaded = 0
  private inARow = 0

  /** Whether `folder` is on a disk of this machine; asked by way of another thread the first time. */
  isLocal(folder: string): boolean | Promise<boolean> {
    return this.folders.get(folder) ?? this.ask(folder)
  }

  /** Whether the next call may be made at once; told once per call. */
  isFree(): boolean {
    if (this.threaded > 0) {
      this.threaded--
      return false
    }
    this.inARow = (this.inARow + 1) % IN_A_ROW_MAX
    return this.inARow > 0
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

  private async ask(folder: string): Promise<boolean> {
    if (process.platform !== 'linux') return false
    try {
      const isLocal = LOCAL_TYPES.has((await statfs(folder)).type)
      if (this.folders.size >= FOLDERS_MAX) this.folders.clear()
      this.folders.set(folder, isLocal)
      return isLocal
    } catch {
      // It does not exist, yet.
      return false
    }
  }
}
