/** Owns which processes count as of one child: those of its group, and those that carry its mark wherever they went. */
import { MARK, markedProcesses } from './mark.ts'
import { groupWatch, hasVariable, isMember, processIds, signalGroup, signalOne, type Signal } from './proc.ts'

export class Members {
  private readonly group: number
  private readonly mark: string | undefined
  private readonly lives: () => boolean
  /** The pid of the group may be given to a stranger once it is gone, so that is remembered. */
  private groupGone = false
  private gone = false
  /** One that has left the group and was seen last is looked at first: a whole search takes long. */
  private seen: number | undefined

  constructor(group: number, mark: string | undefined) {
    this.group = group
    this.mark = mark
    this.lives = groupWatch(group)
  }

  groupAlive(): boolean {
    this.groupGone ||= !this.lives()
    return !this.groupGone
  }

  alive(): boolean {
    this.gone ||= !this.groupAlive() && !this.anyStray()
    return !this.gone
  }

  /** The group before any look, so that a crowd does not grow meanwhile. */
  signal(signal: Signal): void {
    if (this.gone) return
    if (!this.groupGone) signalGroup(this.group, signal)
    for (const pid of this.strays()) signalOne(pid, signal)
  }

  /** Where the platform does not tell, there are never too many. */
  exceed(max: number): boolean {
    const all = processIds()
    if (all.length <= max) return false
    let members = 0
    return all.some((pid) => (isMember(pid, this.group) || this.isMarked(pid)) && ++members > max)
  }

  private anyStray(): boolean {
    if (this.seen !== undefined && this.isMarked(this.seen)) return true
    this.seen = this.strays().next().value
    return this.seen !== undefined
  }

  private isMarked(pid: number): boolean {
    return this.mark !== undefined && hasVariable(pid, MARK, this.mark)
  }

  private *strays(): Generator<number, undefined> {
    if (this.mark === undefined) return
    for (const { pid, value, group } of markedProcesses()) {
      if (value === this.mark && (group !== this.group || this.groupGone)) yield pid
    }
  }
}
