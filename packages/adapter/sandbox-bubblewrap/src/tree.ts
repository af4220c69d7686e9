/** Owns what lives below a process, as Linux tells it: bubblewrap, its first process inside, the keeper and what was left. */
import { readFileSync } from 'node:fs'

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

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** Nothing of a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
