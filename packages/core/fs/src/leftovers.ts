/** Owns the names of temporary files, and clearing those that a process left behind when it died. */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { isDiskError, mintId, type World } from '@sluice/base'

/** Whether a file may be removed in the name of whoever touches its folder. */
export type MayRemove = (path: string) => Promise<boolean>

/** Directories that are remembered as cleared; beyond that they are looked at again. */
const CLEARED_MAX = 4096

const pattern = /^\.sluice-([0-9a-f]{8})-(\d+)-([0-9a-f]{8})-tmp_[0-9a-z]+$/

const short = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8)

/** A name tells host, process and start time, so that nobody clears the file of a process that lives. */
export class Leftovers {
  private readonly world: World
  private readonly prefix: string
  private readonly cleared = new Set<string>()

  constructor(world: World) {
    this.world = world
    const { pid, hostname } = world.host
    this.prefix = `.sluice-${short(hostname)}-${pid}-${short(world.processes.startTimeOf(pid) ?? '')}-`
  }

  /** A fresh path in `directory`. */
  name(directory: string): string {
    return posix.join(directory, `${this.prefix}${mintId(this.world, 'tmp')}`)
  }

  /** Removes what dead processes left in `directory`; looks once per directory. Failures are left to the next start. */
  async clear(directory: string, mayRemove: MayRemove): Promise<void> {
    if (this.cleared.has(directory)) return
    if (this.cleared.size >= CLEARED_MAX) this.cleared.clear()
    this.cleared.add(directory)
    try {
      for (const { name } of await this.world.disk.readdir(directory)) {
        const path = posix.join(directory, name)
        if (this.isDead(name) && (await mayRemove(path))) await this.world.disk.unlink(path)
      }
    } catch (error) {
      if (!isDiskError(error)) throw error
    }
  }

  private isDead(name: string): boolean {
    const match = pattern.exec(name)
    if (!match || match[1] !== short(this.world.host.hostname) || name.startsWith(this.prefix)) return false
    const pid = Number(match[2])
    const { processes } = this.world
    return !processes.isAlive(pid) || short(processes.startTimeOf(pid) ?? '') !== match[3]
  }
}
