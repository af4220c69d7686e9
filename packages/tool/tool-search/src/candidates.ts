/** Owns what becomes of paths that ripgrep printed: newest first, only what may be read, as other tools take them. */
import { posix } from 'node:path'
import type { World } from '@sluice/base'
import type { Fs, FsContext } from '@sluice/fs'

/** Paths of one search that are looked at; beyond that it says that there are more. */
export const CANDIDATES_MAX = 10_000
/** Look-ups on the disk at once. */
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
  const times = await mapped(candidates, async ({ path }) => {
    try {
      return (await place.disk.lstat(path)).mtimeMs
    } catch {
      return Number.NEGATIVE_INFINITY
    }
  })
  const order = candidates.map((candidate, index) => ({ candidate, time: times[index] as number }))
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
    const allowed = await mapped(part, async ({ path }) => {
      try {
        await place.fs.check(path, 'read', place.context)
        return true
      } catch {
        return false
      }
    })
    shown.push(...part.filter((_, index) => allowed[index]))
    at += part.length
  }
  return { shown, withheld: at - shown.length, rest: candidates.length - at }
}

export function shownPath(path: string, { home }: Place): string {
  return path.startsWith(`${home}/`) ? path.slice(home.length + 1) : path
}

export const below = (folder: string, path: string) => posix.join(folder, path)

async function mapped<T, R>(items: readonly T[], change: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(change))))
  }
  return results
}
