/** Owns what the platform knows of processes: alive or not, since when, in which group. */
import { readdirSync, readFileSync } from 'node:fs'

interface ProcStat {
  readonly state: string
  readonly group: number
  /** Clock ticks since boot. */
  readonly start: string
}

const isLinux = process.platform === 'linux'

function procStat(pid: number): ProcStat | undefined {
  if (!isLinux) return undefined
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', group: Number(fields[2]), start: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

let boot: string | undefined
function bootId(): string {
  boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  return boot
}

/** A zombie has ended; only its parent has not asked yet. */
const hasEnded = (stat: ProcStat): boolean => stat.state === 'Z' || stat.state === 'X'

const startOf = (stat: ProcStat): string => `${bootId()}/${stat.start}`

/** Boot and start time of a live process: with its pid it is never given twice. */
export function startTimeOf(pid: number): string | undefined {
  const stat = procStat(pid)
  return stat && !hasEnded(stat) ? startOf(stat) : undefined
}

export function isAlive(pid: number, startedAt?: string): boolean {
  const stat = procStat(pid)
  if (!stat) return canSignal(pid)
  return !hasEnded(stat) && (startedAt === undefined || startOf(stat) === startedAt)
}

/** Tells whether a process of the group lives; zombies, which may stay for ever in a container without init, do not count.
 *  The member that was seen last is looked at first: a whole search takes long while there are many processes. */
export function groupWatch(group: number): () => boolean {
  let seen = group
  return () => {
    if (!canSignal(-group)) return false
    if (!isLinux || isMember(seen, group)) return true
    const other = processIds().find((pid) => isMember(pid, group))
    seen = other ?? group
    return other !== undefined
  }
}

/** Where the platform does not tell, no group has too many. */
export function groupExceeds(group: number, max: number): boolean {
  const all = isLinux ? processIds() : []
  if (all.length <= max) return false
  let members = 0
  return all.some((pid) => isMember(pid, group) && ++members > max)
}

function isMember(pid: number, group: number): boolean {
  const stat = procStat(pid)
  return stat?.group === group && !hasEnded(stat)
}

function processIds(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

/** Shows each live process that had the variable when its program began. Those of other users are not shown. */
export function eachWithVariable(name: string, visit: (pid: number, value: string) => void): void {
  if (!isLinux) return
  for (const pid of processIds()) {
    const found = environmentOf(pid).find((variable) => variable.startsWith(`${name}=`))
    const stat = found === undefined ? undefined : procStat(pid)
    if (found !== undefined && stat && !hasEnded(stat)) visit(pid, found.slice(name.length + 1))
  }
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Kills one process; one that is gone is no error. */
export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** Signals a whole group; one that is gone is no error. */
export function signalGroup(group: number, signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void {
  try {
    process.kill(-group, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
