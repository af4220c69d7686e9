/** Owns what lives below a process, as Linux tells it. */
import { readdirSync, readFileSync } from 'node:fs'

/** Parent by pid, of all live processes. */
function parents(): Map<number, number> {
  const found = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1')
      // The second field is the program's name in parentheses and may hold anything.
      const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ')
      if (state !== 'Z' && state !== 'X') found.set(Number(name), Number(parent))
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

export interface Inside {
  /** First process of the sandbox: when it is gone, so are all. */
  readonly init: number | undefined
  /** All others. */
  readonly rest: readonly number[]
}

/** The processes of the sandbox that `bwrap`, a process outside of it, watches. */
export function insideOf(bwrap: number): Inside {
  const byPid = parents()
  const childrenOf = (pid: number) => [...byPid].filter(([, parent]) => parent === pid).map(([child]) => child)
  const [init] = childrenOf(bwrap)
  if (init === undefined) return { init, rest: [] }
  const rest: number[] = []
  const queue = childrenOf(init)
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    rest.push(pid)
    queue.push(...childrenOf(pid))
  }
  return { init, rest }
}
