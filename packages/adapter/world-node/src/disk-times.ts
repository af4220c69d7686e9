/** Owns asking many files for their times: in one go while the disk answers from memory, beside other work where it does not. */
import { lstatSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import type { Direct } from './direct.ts'

/** Files that are asked before anything else gets its turn. */
const SLICE = 128
/** A slice that took longer than this was not answered from memory. */
const SLICE_MS_MAX = 20
/** Slices that are asked beside other work after that. */
const SLOW_SLICES = 4

/** Waiting for a thread costs several times what the answer does; so nothing waits, as long as a slice takes no time. */
export function mtimesOf(direct: Direct) {
  return async (paths: readonly string[]): Promise<(number | undefined)[]> => {
    await direct.look()
    const times: (number | undefined)[] = []
    let slow = 0
    for (let at = 0; at < paths.length; at += SLICE) {
      const slice = paths.slice(at, at + SLICE)
      if (slow > 0 || slice.some((path) => direct.isFar(path))) {
        slow = Math.max(0, slow - 1)
        times.push(...(await Promise.all(slice.map(slowTime))))
        continue
      }
      const start = performance.now()
      for (const path of slice) times.push(quickTime(path))
      if (performance.now() - start > SLICE_MS_MAX) slow = SLOW_SLICES
      await new Promise((resolve) => setImmediate(resolve))
    }
    return times
  }
}

function quickTime(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
  } catch {
    return undefined
  }
}

async function slowTime(path: string): Promise<number | undefined> {
  try {
    return (await lstat(path)).mtimeMs
  } catch {
    return undefined
  }
}
