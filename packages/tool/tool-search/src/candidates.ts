/** Owns what becomes of paths that ripgrep printed: newest first, only what may be read, as other tools take them. */
import type { World } from '@sluice/base'
import type { Fs, FsContext } from '@sluice/fs'

/** Paths of one search that are looked at; beyond that it says that there are more. */
export const CANDIDATES_MAX = 10_000
/** Files that are asked about at once. */
const AT_ONCE = 32

export interface Place {
  readonly fs: Fs
  readonly disk: World['disk']
  readonly context: FsContext
  /** Real path of the working folder: what lies below it is shown relative to it. */
  readonly home: string
}

export interface Candidate {
  /** Absolute, real up to here. */
  readonly path: string
  readonly count?: number
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of a name; nothing when it is not UTF-8, because no tool could take it. */
export function nameOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** By time of change, newest first, then by path; what is gone meanwhile is last. */
export async function newestFirst(candidates: readonly Candidate[], place: Place): Promise<Candidate[]> {
  const times = await place.disk.mtimes(candidates.map(({ path }) => path))
  const order = candidates.map((candidate, index) => ({ candidate, time: times[index] ?? Number.NEGATIVE_INFINITY }))
  order.sort((a, b) => b.time - a.time || (a.candidate.path < b.candidate.path ? -1 : 1))
  return order.map(({ candidate }) => candidate)
}

export interface Readable {
  readonly shown: readonly Candidate[]
  readonly withheld: number
  /** Candidates that were not asked about, because enough are shown. */
  readonly rest: number
}

/** The first `limit` candidates that every check lets be read. */
export async function readable(candidates: readonly Candidate[], limit: number, place: Place): Promise<Readable> {
  const shown: Candidate[] = []
  let at = 0
  while (at < candidates.length && shown.length < limit) {
    const part = candidates.slice(at, at + Math.min(AT_ONCE, limit - shown.length))
    const allowed = await Promise.all(part.map(({ path }) => mayBeRead(path, place)))
    shown.push(...part.filter((_, index) => allowed[index]))
    at += part.length
  }
  return { shown, withheld: at - shown.length, rest: candidates.length - at }
}

async function mayBeRead(path: string, { fs, context }: Place): Promise<boolean> {
  try {
    // Links are not followed: one leads elsewhere, and was none when it was found.
    return (await fs.check(path, 'read', context)).path === path
  } catch {
    return false
  }
}

export function shownPath(path: string, { home }: Place): string {
  return path.startsWith(`${home}/`) ? path.slice(home.length + 1) : path
}
