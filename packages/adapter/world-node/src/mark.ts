/** Owns the mark of what a child is and starts, wherever it goes: a variable of their environment, which is inherited. */
import { processesWith, startTimeOf, type WithVariable } from './proc.ts'

export const MARK = 'SLUICE_OWNER'

let children = 0

/** Of one child: `pid/boot/ticks/count/owner`, the first three of this host. */
export function newMark(owner: string): string {
  return `${hostMark()}${++children}/${owner}`
}

/** How the mark of everything that this host starts begins. */
export function hostMark(): string {
  return `${process.pid}/${startTimeOf(process.pid) ?? ''}/`
}

/** The host and the owner that a mark names. */
export function partsOf(mark: string): { host: number; startedAt: string; owner: string } {
  const [host, boot, ticks, , ...owner] = mark.split('/')
  return { host: Number(host), startedAt: `${boot}/${ticks}`, owner: owner.join('/') }
}

/** The living processes that carry any mark. */
export const markedProcesses = (): Iterable<WithVariable> => processesWith(MARK)
