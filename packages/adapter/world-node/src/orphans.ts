/** Owns finding processes whose host has died: by a variable of their environment, which what they start inherits. */
import { setTimeout as wait } from 'node:timers/promises'
import { eachWithVariable, isAlive, kill, startTimeOf } from './proc.ts'

const NAME = 'SLUICE_OWNER'
/** What is killed may have started something in between: so often it is looked again, so far apart. */
const LOOKS_MAX = 200
const LOOK_MS = 5

/** The variable that a process started for `owner` carries: `pid/boot/ticks/owner`, the first three of this host. */
export function ownerVariable(owner: string): Readonly<Record<string, string>> {
  return { [NAME]: `${process.pid}/${startTimeOf(process.pid) ?? ''}/${owner}` }
}

/** How the variable of everything that this host starts begins, with its name. */
export function hostMark(): string {
  return `${NAME}=${process.pid}/${startTimeOf(process.pid) ?? ''}/`
}

/** Kills what dead hosts have left of `owner`; resolves to how many processes there were. */
export async function endOrphans(owner: string): Promise<number> {
  const killed = new Set<number>()
  for (let look = 0; look < LOOKS_MAX; look++) {
    let left = 0
    eachWithVariable(NAME, (pid, value) => {
      const [host, boot, ticks, ...rest] = value.split('/')
      if (rest.join('/') !== owner || isAlive(Number(host), `${boot}/${ticks}`)) return
      // The process was looked at this moment, so its pid cannot have passed to another.
      kill(pid)
      killed.add(pid)
      left++
    })
    if (left === 0) break
    await wait(LOOK_MS)
  }
  return killed.size
}
