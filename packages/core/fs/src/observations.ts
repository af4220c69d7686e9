/** Owns what a session has seen of files: a fold of `fs/observed`, so that it survives resume and fork. */
import { type Fold, foldSteps, type SessionEvent } from '@sluice/session'
import { foldName } from './resolve.ts'
import type { LineRange, ObservedData, Target, Version } from './types.ts'
import { sameVersion } from './versions.ts'

export interface Observation {
  readonly path: string
  readonly key: string
  readonly version: Version
  /** Lines of that version that were shown, merged and sorted; `'whole'` when that is all of them. */
  readonly seen: 'whole' | readonly LineRange[]
  /** Sequence number of the newest event behind this. */
  readonly seq: number
}

/** Observations by path, spread over buckets so that one more costs little however many there are. */
export type Observations = readonly { readonly [path: string]: Observation }[]

const BUCKETS = 64
/** More ranges of one version than this are not told apart: the oldest are forgotten. */
const RANGES_MAX = 200

export const observations: Fold<Observations> = {
  name: 'fs/observations',
  version: 1,
  initial: Array.from({ length: BUCKETS }, () => ({})),
  step: foldSteps<Observations>({
    'fs/observed': (state, event) => observe(state, event),
    'compaction/done': (state, event) => forgetText(state, event.data.upTo),
  }),
}

/** What was last seen of `target`. A file under another name counts as seen when its content is still the seen one. */
export function observationOf(state: Observations, target: Target, current?: Version): Observation | undefined {
  const exact = state[bucketOf(target.path)]?.[target.path]
  if (exact) return exact
  const folded = target.folded ? foldName(target.path) : undefined
  for (const bucket of state) {
    for (const observation of Object.values(bucket)) {
      if (folded !== undefined && foldName(observation.path) === folded) return observation
      if (observation.key === target.key && sameVersion(observation.version, current)) return observation
    }
  }
  return undefined
}

function bucketOf(path: string): number {
  let hash = 0
  for (let i = Math.max(0, path.length - 24); i < path.length; i++) hash = (hash * 31 + path.charCodeAt(i)) | 0
  return (hash >>> 0) % BUCKETS
}

function observe(state: Observations, event: SessionEvent<'fs/observed'>): Observations {
  const { path, key, version } = event.data
  const at = bucketOf(path)
  const bucket = state[at]
  const seen = seenAfter(bucket?.[path], event.data)
  const next = state.slice()
  next[at] = { ...bucket, [path]: { path, key, version, seen, seq: event.seq } }
  return next
}

function seenAfter(before: Observation | undefined, data: Readonly<ObservedData>): Observation['seen'] {
  if (!data.ranges) return 'whole'
  if (!before || !sameVersion(before.version, data.version)) return data.ranges
  if (before.seen === 'whole') return 'whole'
  const merged = mergeRanges([...before.seen, ...data.ranges])
  const only = merged.length === 1 ? merged[0] : undefined
  return only?.from === 1 && data.linesTotal !== undefined && only.to >= data.linesTotal ? 'whole' : merged
}

function mergeRanges(ranges: readonly LineRange[]): LineRange[] {
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to)
    else merged.push({ from, to })
  }
  return merged.slice(-RANGES_MAX)
}

/** Compaction takes the text from the model: what is left is that the file was seen, and in which version. */
function forgetText(state: Observations, upTo: number): Observations {
  return state.map((bucket) => {
    const entries = Object.entries(bucket)
    return Object.fromEntries(entries.map(([path, seen]) => [path, seen.seq <= upTo ? { ...seen, seen: [] } : seen]))
  })
}
