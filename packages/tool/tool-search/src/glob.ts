/** Owns finding files by the pattern of their path. */
import { posix } from 'node:path'
import type { World } from '@sluice/base'
import type { GlobArgs } from './arguments.ts'
import { LIMIT_DEFAULT } from './arguments.ts'
import { CANDIDATES_MAX, newestFirst, type Place, readable, shownPath, type Timed, withTimes } from './candidates.ts'
import { searchErrors } from './errors.ts'
import { Names } from './names.ts'
import { ripgrep } from './ripgrep.ts'
import type { GlobValue } from './types.ts'
import { wildcards, withLiteralBrackets } from './wildcards.ts'

export interface SearchOptions {
  readonly world: World
  readonly place: Place
  readonly signal: AbortSignal
}

/** @throws SEARCH_PATH_MISSING, FS_REFUSED and what `ctx.fs.check` throws */
export async function glob(args: GlobArgs, options: SearchOptions): Promise<GlobValue> {
  const { place } = options
  const { path = '.', limit = LIMIT_DEFAULT } = args
  const start = await literalPart(path, args.pattern, place)
  if (start?.pattern === undefined) {
    return { paths: start ? [shownPath(start.folder, place)] : [], more: 0, withheld: 0, unreadable: false }
  }
  const { folder, pattern } = start
  const found = await filesBelow(folder, pattern, args, options)
  const { shown, withheld } = await readable(newestFirst(found.candidates, limit), limit, place)
  return {
    paths: shown.map((candidate) => shownPath(candidate.path, place)),
    more: found.cut ? true : found.candidates.length - shown.length - withheld,
    withheld: withheld + found.unnameable,
    unreadable: found.unreadable,
  }
}

interface Start {
  readonly folder: string
  /** What is left of the pattern; nothing when it is the path of a file. */
  readonly pattern: string | undefined
}

/** Goes down the pattern as far as it is a path that exists, whatever characters its names hold. Folders on the way are not
 *  looked into, so only where it ends is asked about. `undefined` when that is no folder and something is left. */
async function literalPart(root: string, pattern: string, { fs, disk, context }: Place): Promise<Start | undefined> {
  let at = posix.isAbsolute(pattern) ? await fs.resolve('/', context.session) : await fs.check(root, 'read', context)
  if (!at.exists) throw searchErrors('SEARCH_PATH_MISSING', { path: root })
  const parts = posix
    .normalize(pattern)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  while (parts.length > 0) {
    const [part = ''] = parts
    const next = await fs.resolve(posix.join(at.path, part), context.session)
    if (!next.exists) break
    at = next
    parts.shift()
  }
  const { path: folder } = await fs.check(at.path, 'read', context)
  const isFolder = (await disk.stat(folder)).kind === 'directory'
  if (parts.length === 0) return { folder, pattern: isFolder ? '**' : undefined }
  return isFolder ? { folder, pattern: parts.join('/') } : undefined
}

interface Found {
  readonly candidates: readonly Timed[]
  /** Names that are not UTF-8. */
  readonly unnameable: number
  readonly cut: boolean
  readonly unreadable: boolean
}

async function filesBelow(
  folder: string,
  pattern: string,
  { includeIgnored = false }: GlobArgs,
  { world, place, signal }: SearchOptions,
): Promise<Found> {
  const isMatch = wildcards(pattern)
  // Names with brackets are common and look like patterns; they are found when the pattern proper finds nothing.
  const literal = withLiteralBrackets(pattern)
  const isLiteralMatch = literal === pattern ? () => false : wildcards(literal)
  const base = folder === '/' ? '' : folder
  const timed = (names: readonly string[]) =>
    withTimes(
      names.map((name) => ({ path: `${base}/${name}` })),
      place,
    )
  // The disk is asked for times while ripgrep goes on.
  const finding: Promise<Timed[]>[] = []
  const literalNames: string[] = []
  let count = 0
  let unnameable = 0
  const { stopped, unreadable } = await ripgrep({
    world,
    cwd: folder,
    args: ['--files', '--null', ...(includeIgnored ? ['--no-ignore'] : []), '--', './'],
    signal,
    reader: new Names((all, odd) => {
      const names: string[] = []
      for (const each of all) {
        const name = each.slice(2)
        if (isMatch(name)) names.push(name)
        else if (isLiteralMatch(name)) literalNames.push(name)
      }
      const room = CANDIDATES_MAX + 1 - count
      finding.push(timed(names.length > room ? names.slice(0, room) : names))
      count += names.length
      unnameable += odd
      return count <= CANDIDATES_MAX && literalNames.length <= CANDIDATES_MAX
    }),
  })
  const candidates = (await Promise.all(finding)).flat()
  if (candidates.length > 0) return { candidates, unnameable: 0, cut: stopped, unreadable }
  return { candidates: await timed(literalNames), unnameable, cut: stopped, unreadable }
}
