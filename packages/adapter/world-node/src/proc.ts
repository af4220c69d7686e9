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

export function isMember(pid: number, group: number): boolean {
  const stat = procStat(pid)
  return stat?.group === group && !hasEnded(stat)
}

/** None where the platform does not tell. */
export function processIds(): number[] {
  return isLinux ? readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])) : []
}

/** At most; all but the first are only at processes that were not seen before. A busy machine always has new ones. */
const LOOKS_MAX = 10

export interface WithVariable {
  readonly pid: number
  readonly group: number
  readonly value: string
}

/** Each live process that had the variable when its program began, also those that are started meanwhile. Those of other users
 *  are not shown. */
export function* processesWith(variable: string): Generator<WithVariable, undefined> {
  const seen = new Set<number>()
  for (let look = 0; look < LOOKS_MAX; look++) {
    const fresh = processIds().filter((pid) => !seen.has(pid))
    if (fresh.length === 0) return
    for (const pid of fresh) {
      const environment = environmentOf(pid)
      // While one program takes the place of another there is none for a moment.
      if (environment === '' && look === 0) continue
      seen.add(pid)
      const value = valueIn(environment, variable)
      const stat = value === undefined ? undefined : procStat(pid)
      if (value !== undefined && stat && !hasEnded(stat)) yield { pid, group: stat.group, value }
    }
  }
}

/** Whether the variable was `value` when the program of a live process began. */
export function hasVariable(pid: number, variable: string, value: string): boolean {
  if (valueIn(environmentOf(pid), variable) !== value) return false
  const stat = procStat(pid)
  return stat !== undefined && !hasEnded(stat)
}

function valueIn(environment: string | undefined, variable: string): string | undefined {
  const start = `${variable}=`
  return environment
    ?.split('\0')
    .find((each) => each.startsWith(start))
    ?.slice(start.length)
}

function environmentOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8')
  } catch {
    return undefined
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

export type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGINT'

/** Signals one process; one that is gone, or has become another user's, is no error. */
export function signalOne(pid: number, signal: Signal): void {
  send(pid, signal)
}

/** Signals a whole group; one that is gone, or has become another user's, is no error. */
export function signalGroup(group: number, signal: Signal): void {
  send(-group, signal)
}

function send(target: number, signal: Signal): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
