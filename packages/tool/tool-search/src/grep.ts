/** Owns searching the content of files. */
import { posix } from 'node:path'
import { fsErrors } from '@sluice/fs'
import { type GrepArgs, LIMIT_DEFAULT } from './arguments.ts'
import { type Candidate, CANDIDATES_MAX, nameOf, newestFirst, readable, shownPath } from './candidates.ts'
import { searchErrors } from './errors.ts'
import type { SearchOptions } from './glob.ts'
import { matchesIn } from './matches.ts'
import { patternArgs } from './pattern.ts'
import { ripgrep } from './ripgrep.ts'
import type { GrepFile, GrepValue } from './types.ts'
import { wildcards } from './wildcards.ts'

/** Files that are asked for their lines in one run. */
const FILES_AT_ONCE = 100

/** First which files match (that is fast), then, newest first, what matches in those that are shown.
 *  @throws SEARCH_PATH_MISSING, SEARCH_PATTERN_INVALID, FS_REFUSED and what `ctx.fs.check` throws */
export async function grep(args: GrepArgs, options: SearchOptions): Promise<GrepValue> {
  const { place } = options
  const { limit = LIMIT_DEFAULT, output: what = 'content' } = args
  const found = await matchingFiles(args, options)
  const sorted = await newestFirst(found.candidates, place)
  // What may not be read tells nothing of its content, not even by a count: only files that could be shown count as more.
  const { shown } = await readable(sorted, limit + 1, place)
  const listed = shown.slice(0, limit)
  const isMore = found.cut || shown.length > limit
  const notes = { withheld: found.unnameable, unreadable: found.unreadable, what }
  if (what !== 'content') {
    const files = listed.map(({ path, count }) => ({
      path: shownPath(path, place),
      ...(count !== undefined && { count }),
    }))
    return { files, hits: files.length, more: isMore ? true : 0, ...notes }
  }
  const { files, hits, cut } = await lines(listed, args, limit, options)
  return { files, hits, more: cut || isMore ? true : 0, ...notes }
}

async function lines(listed: readonly Candidate[], args: GrepArgs, limit: number, options: SearchOptions) {
  const files: GrepFile[] = []
  let hits = 0
  let cut = false
  for (let at = 0; at < listed.length && !cut; at += FILES_AT_ONCE) {
    const part = listed.slice(at, at + FILES_AT_ONCE)
    const matches = await matchesIn(part, args, limit - hits, options)
    // A link may have been put in the place of a file since it was asked about.
    const still = await readable(part, part.length, options.place)
    const allowed = new Set(still.shown.map(({ path }) => path))
    for (const { path, matched, ...found } of matches.files.filter((file) => allowed.has(file.path))) {
      files.push({ path: shownPath(path, options.place), ...found })
      hits += matched
    }
    cut = matches.cut || (hits >= limit && at + FILES_AT_ONCE < listed.length)
  }
  return { files, hits, cut }
}

interface Found {
  readonly candidates: readonly Candidate[]
  readonly unnameable: number
  readonly cut: boolean
  readonly unreadable: boolean
}

async function matchingFiles(args: GrepArgs, { world, place, signal }: SearchOptions): Promise<Found> {
  const { path = '.', glob, output } = args
  const target = await place.fs.check(path, 'read', place.context)
  if (!target.exists) throw searchErrors('SEARCH_PATH_MISSING', { path })
  const { kind } = await place.disk.stat(target.path)
  // Ripgrep would wait for what may never come.
  if (kind !== 'file' && kind !== 'directory') throw fsErrors('FS_NOT_A_FILE', { path: target.path, kind })
  const counts = output === 'count'
  const candidates: Candidate[] = []
  const accepts = pathFilter(glob)
  let unnameable = 0
  const end = await ripgrep({
    world,
    cwd: place.home,
    args: [
      counts ? '--count-matches' : '--files-with-matches',
      '--null',
      ...patternArgs(args),
      ...(args.includeIgnored ? ['--no-ignore'] : []),
      ...nameFilter(glob),
      '--',
      target.path,
    ],
    // With counts a record is the path, a zero byte, the number and a line feed.
    separator: counts ? 0x0a : 0,
    signal,
    onRecord(bytes) {
      // A path is never that long.
      if (!bytes) return true
      const end = counts ? bytes.lastIndexOf(0) : bytes.length
      const name = nameOf(bytes.subarray(0, end))
      if (name === undefined) unnameable++
      else if (accepts(posix.relative(target.path, name))) {
        const count = counts ? Number(nameOf(bytes.subarray(end + 1))) : undefined
        candidates.push({ path: name, ...(count !== undefined && { count }) })
      }
      return candidates.length <= CANDIDATES_MAX
    },
  })
  return { candidates, unnameable, cut: end.stopped, unreadable: end.unreadable }
}

/** Names are filtered by ripgrep as a type, because a glob of its own would bring ignored files back. */
function nameFilter(glob: string | undefined): string[] {
  return glob === undefined || glob.includes('/') ? [] : [`--type-add=wanted:${glob}`, '--type=wanted']
}

function pathFilter(glob: string | undefined): (path: string) => boolean {
  if (!glob?.includes('/')) return () => true
  return wildcards(glob)
}
