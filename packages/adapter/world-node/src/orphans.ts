/** Owns finding processes whose host has died: by their mark. */
import { setTimeout as wait } from 'node:timers/promises'
import { markedProcesses, partsOf } from './mark.ts'
import { isAlive, signalOne } from './proc.ts'

/** What is killed may have started something in between: so often it is looked again, so far apart. */
const LOOKS_MAX = 200
const LOOK_MS = 5

/** Kills what dead hosts have left of `owner`; resolves to how many processes there were. */
export async function endOrphans(owner: string): Promise<number> {
  const killed = new Set<number>()
  for (let look = 0; look < LOOKS_MAX; look++) {
    let left = 0
    for (const { pid, value } of markedProcesses()) {
      const { host, startedAt, owner: its } = partsOf(value)
      if (its !== owner || isAlive(host, startedAt)) continue
      // The process was looked at this moment, so its pid cannot have passed to another.
      signalOne(pid, 'SIGKILL')
      killed.add(pid)
      left++
    }
    if (left === 0) break
    await wait(LOOK_MS)
  }
  return killed.size
}
