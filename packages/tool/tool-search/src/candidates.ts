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
  readonly count?: number | undefined
}

export interface Timed extends Candidate {
  /** Of its last change. */
  readonly time: number
}

/** Without those that are gone meanwhile. */
export async function withTimes(candidates: readonly Candidate[], { disk }: Place): Promise<Timed[]> {
  const times = await disk.mtimes(candidates.map(({ path }) => path))
  return candidates.flatMap(({ path, count }, index) => {
    const time = times[index]
    return time === undefined ? [] : [{ path, count, time }]
  })
}

/** By time of change, newest first, then by path. Only the first `wanted` are put in order unless more are asked for. */
export function* newestFirst(all: readonly Timed[], wanted: number): Generator<Timed> {
  const times = new Float64Array(all.length)
  for (let i = 0; i < all.length; i++) times[i] = (all[i] as Timed).time
  times.sort()
  const edge = times[Math.max(0, times.length - wanted)] ?? 0
  yield* all.filter(({ time }) => time >= edge).sort(byTime)
  yield* all.filter(({ time }) => time < edge).sort(byTime)
}

function byTime(a: Timed, b: Timed): number {
  return b.time - a.time || (a.path < b.path ? -1 : 1)
}

export interface Readable {
  readonly shown: readonly Candidate[]
  readonly withheld: number
}

/** The first `limit` candidates that every check lets be read; no more are asked about. */
export async function readable(candidates: Iterable<Candidate>, limit: number, place: Place): Promise<Readable> {
  const shown: Candidate[] = []
  let withheld = 0
  const left = candidates[Symbol.iterator]()
  for (;;) {
    const part = taken(left, Math.min(AT_ONCE, limit - shown.length))
    if (part.length === 0) return { shown, withheld }
    const allowed = await Promise.all(part.map(({ path }) => mayBeRead(path, place)))
    const passed = part.filter((_, index) => allowed[index])
    shown.push(...passed)
    withheld += part.length - passed.length
  }
}

function taken<T>(from: Iterator<T>, count: number): T[] {
  const part: T[] = []
  while (part.length < count) {
    const { done, value } = from.next()
    if (done === true) break
    part.push(value)
  }
  return part
}

async function mayBeRead(path: string, { fs, context }: Place): Promise<boolean> {
  try {
    const target = await fs.check(path, 'read', context)
    // Links are not followed: one leads elsewhere, and was none when it was found.
    return target.exists && target.path === path
  } catch {
    return false
  }
}

export function shownPath(path: string, { home }: Place): string {
  return path.startsWith(`${home}/`) ? path.slice(home.length + 1) : path
}
