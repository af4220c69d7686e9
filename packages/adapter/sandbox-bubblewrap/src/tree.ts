/** Owns what lives below a process, as Linux tells it: bubblewrap, its first process inside, the keeper and what was left. */
import { readdirSync, readFileSync } from 'node:fs'

/** Of one process that are looked at. */
const THREADS_MAX = 1_000

/** At most `max` of the processes of the sandbox that `bwrap`, a process outside of it, watches; not its first process, and not
 *  the keeper, which is the first child of that. None where the kernel does not tell. */
export function insideOf(bwrap: number, max: number): readonly number[] {
  const [init = 0] = childrenOf(bwrap)
  const [keeper = 0, ...left] = childrenOf(init)
  const found = [...childrenOf(keeper), ...left]
  for (let i = 0; i < found.length && found.length < max; i++) found.push(...childrenOf(found[i] as number))
  return found.slice(0, max)
}

/** Whether something lives on of a program that has ended: what has lost its parent is a child of the first process. */
export function leftIn(bwrap: number): boolean {
  const [init = 0] = childrenOf(bwrap)
  const [, ...left] = childrenOf(init)
  return left.some((pid) => /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`)))
}

/** Each thread has its own. */
function childrenOf(pid: number): number[] {
  const threads = threadsOf(pid).slice(0, THREADS_MAX)
  return threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  )
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** Nothing of a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
