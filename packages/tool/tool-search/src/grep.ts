/** Owns searching the content of files. */
import { posix } from 'node:path'
import { fsErrors, type Target } from '@sluice/fs'
import { type GrepArgs, LIMIT_DEFAULT } from './arguments.ts'
import { type Candidate, CANDIDATES_MAX, newestFirst, readable, shownPath, withTimes } from './candidates.ts'
import { searchErrors } from './errors.ts'
import type { SearchOptions } from './glob.ts'
import { type Lines, linesArgs, Matches, type Room } from './matches.ts'
import { Names } from './names.ts'
import { patternArgs } from './pattern.ts'
import { type Reader, Records } from './records.ts'
import { ripgrep } from './ripgrep.ts'
import type { GrepFile, GrepValue } from './types.ts'
import { wildcards } from './wildcards.ts'

/** Files that are asked for their lines in one run. */
const FILES_AT_ONCE = 100
/** Lines of all files that are taken at once; where there are more, the files are found first, which is faster then. */
const ROOM_AT_ONCE: Room = { lines: 4_000, bytes: 4 << 20 }
const LF = Uint8Array.of(0x0a)
const ROOM_ENOUGH: Room = { lines: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }

/** Files that match, and their lines where all of them had room. */
interface Found {
  readonly candidates: readonly Candidate[]
  readonly matches?: Matches
  readonly unnameable: number
  readonly cut: boolean
  readonly unreadable: boolean
}

/** Newest first, what matches in the files that may be shown.
 *  @throws SEARCH_PATH_MISSING, SEARCH_PATTERN_INVALID, FS_REFUSED and what `ctx.fs.check` throws */
export async function grep(args: GrepArgs, options: SearchOptions): Promise<GrepValue> {
  const { place } = options
  const { limit = LIMIT_DEFAULT, output: what = 'content' } = args
  const target = await searched(args, options)
  const found =
    (what === 'content' ? await allLines(args, target, limit, options) : undefined) ??
    (await matchingFiles(args, target, options))
  const sorted = newestFirst(await withTimes(found.candidates, place), limit + 1)
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
  const paths = listed.map(({ path }) => path)
  const { files, hits, cut } = found.matches
    ? linesOf(found.matches, paths, limit, options)
    : await linesIn(paths, args, limit, options)
  return { files, hits, more: cut || isMore ? true : 0, ...notes }
}

function linesOf(matches: Matches, paths: readonly string[], limit: number, { place }: SearchOptions): Lines {
  const { files, ...counted } = matches.of(paths, limit)
  return { files: files.map((file) => ({ ...file, path: shownPath(file.path, place) })), ...counted }
}

async function linesIn(
  paths: readonly string[],
  args: GrepArgs,
  limit: number,
  options: SearchOptions,
): Promise<Lines> {
  const { world, place, signal } = options
  const files: GrepFile[] = []
  let hits = 0
  let cut = false
  for (let at = 0; at < paths.length && !cut; at += FILES_AT_ONCE) {
    const part = paths.slice(at, at + FILES_AT_ONCE)
    const matches = new Matches(() => true)
    const rgArgs = [...linesArgs(args, limit - hits), '--', ...part]
    await ripgrep({ world, cwd: place.home, args: rgArgs, signal, reader: matches.reader(ROOM_ENOUGH) })
    // A link may have been put in the place of a file since it was asked about.
    const still = await readable(
      part.map((path) => ({ path })),
      part.length,
      place,
    )
    const allowed = still.shown.map(({ path }) => path)
    const lines = linesOf(matches, allowed, limit - hits, options)
    files.push(...lines.files)
    hits += lines.hits
    cut = lines.cut || (hits >= limit && at + FILES_AT_ONCE < paths.length)
  }
  return { files, hits, cut }
}

async function searched({ path = '.' }: GrepArgs, { place }: SearchOptions): Promise<Target> {
  const target = await place.fs.check(path, 'read', place.context)
  if (!target.exists) throw searchErrors('SEARCH_PATH_MISSING', { path })
  const { kind } = await place.disk.stat(target.path)
  // Ripgrep would wait for what may never come.
  if (kind !== 'file' && kind !== 'directory') throw fsErrors('FS_NOT_A_FILE', { path: target.path, kind })
  return target
}

/** `undefined` when there are too many lines to hold. */
async function allLines(
  args: GrepArgs,
  { path }: Target,
  limit: number,
  { world, place, signal }: SearchOptions,
): Promise<Found | undefined> {
  const matches = new Matches(pathFilter(args.glob, path))
  const rgArgs = [...linesArgs(args, limit), ...whereArgs(args, path)]
  const reader = matches.reader(ROOM_AT_ONCE)
  const { stopped, unreadable } = await ripgrep({ world, cwd: place.home, args: rgArgs, signal, reader })
  if (stopped) return undefined
  const candidates = matches.paths.map((found) => ({ path: found }))
  return { candidates, matches, unnameable: matches.unnameable, cut: false, unreadable }
}

async function matchingFiles(
  args: GrepArgs,
  { path }: Target,
  { world, place, signal }: SearchOptions,
): Promise<Found> {
  const candidates: Candidate[] = []
  const wants = pathFilter(args.glob, path)
  let unnameable = 0
  const add = (found: readonly Candidate[], odd: number): boolean => {
    candidates.push(...found.filter((candidate) => wants(candidate.path)))
    unnameable += odd
    return candidates.length <= CANDIDATES_MAX
  }
  const counts = args.output === 'count'
  const { stopped, unreadable } = await ripgrep({
    world,
    cwd: place.home,
    args: [
      ...(counts ? ['--count-matches', '--with-filename'] : ['--files-with-matches']),
      '--null',
      ...patternArgs(args),
      ...whereArgs(args, path),
    ],
    signal,
    reader: counts
      ? countReader(add)
      : new Names((names, odd) =>
          add(
            names.map((name) => ({ path: name })),
            odd,
          ),
        ),
  })
  return { candidates, unnameable, cut: stopped, unreadable }
}

/** A record is the path, a zero byte, the number and a line feed; a path may hold line feeds too. */
function countReader(add: (found: readonly Candidate[], odd: number) => boolean): Reader {
  let start: Uint8Array[] = []
  return new Records(0x0a, (bytes) => {
    // A path is never that long.
    if (!bytes) return true
    const end = bytes.lastIndexOf(0)
    if (end === -1) {
      start.push(bytes, LF)
      return true
    }
    const count = Number(Buffer.from(bytes.subarray(end + 1)).toString())
    let goesOn = true
    const names = new Names(
      (found, odd) =>
        (goesOn = add(
          found.map((path) => ({ path, count })),
          odd,
        )),
    )
    names.push(Buffer.concat([...start, bytes.subarray(0, end + 1)]))
    start = []
    return goesOn
  })
}

/** Names are filtered by ripgrep as a type, because a glob of its own would bring ignored files back. */
function whereArgs({ glob, includeIgnored }: GrepArgs, path: string): string[] {
  const isName = glob !== undefined && !glob.includes('/')
  return [
    ...(includeIgnored ? ['--no-ignore'] : []),
    ...(isName ? [`--type-add=wanted:${glob}`, '--type=wanted'] : []),
    '--',
    path,
  ]
}

function pathFilter(glob: string | undefined, root: string): (path: string) => boolean {
  if (!glob?.includes('/')) return () => true
  const isMatch = wildcards(glob)
  return (path) => isMatch(posix.relative(root, path))
}
