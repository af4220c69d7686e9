/** Owns finding files by the pattern of their path. */
import { posix } from 'node:path'
import type { World } from '@sluice/base'
import picomatch from 'picomatch'
import type { GlobArgs } from './arguments.ts'
import { LIMIT_DEFAULT } from './arguments.ts'
import { type Candidate, CANDIDATES_MAX, nameOf, newestFirst, type Place, readable, shownPath } from './candidates.ts'
import { searchErrors } from './errors.ts'
import { ripgrep } from './ripgrep.ts'
import type { GlobValue } from './types.ts'

export interface SearchOptions {
  readonly world: World
  readonly place: Place
  readonly signal: AbortSignal
}

/** @throws SEARCH_PATH_MISSING, FS_REFUSED and what `ctx.fs.check` throws */
export async function glob(args: GlobArgs, options: SearchOptions): Promise<GlobValue> {
  const { place } = options
  const { path = '.', limit = LIMIT_DEFAULT } = args
  const { folder, pattern } = await literalPart(posix.isAbsolute(args.pattern) ? '/' : path, args.pattern, place)
  if (pattern === undefined) return { paths: [shownPath(folder, place)], more: 0, withheld: 0, unreadable: false }
  const found = await filesBelow(folder, pattern, args, options)
  const sorted = await newestFirst(found.candidates, place)
  const { shown, withheld, rest } = await readable(sorted, limit, place)
  return {
    paths: shown.map((candidate) => shownPath(candidate.path, place)),
    more: found.cut ? true : rest,
    withheld: withheld + found.unnameable,
    unreadable: found.unreadable,
  }
}

/** Goes down the pattern as far as it is a path that exists, whatever characters its names hold. */
async function literalPart(
  root: string,
  pattern: string,
  { fs, context }: Place,
): Promise<{ readonly folder: string; readonly pattern: string | undefined }> {
  let target = await fs.check(root, 'read', context)
  if (!target.exists) throw searchErrors('SEARCH_PATH_MISSING', { path: root })
  const parts = posix
    .normalize(pattern)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  while (parts.length > 0) {
    const [part = ''] = parts
    const next = await fs.check(posix.join(target.path, part), 'read', context)
    if (!next.exists) break
    target = next
    parts.shift()
  }
  if (parts.length > 0) return { folder: target.path, pattern: parts.join('/') }
  const isFolder = await fs.list(target.path, context).then(
    () => true,
    () => false,
  )
  return { folder: target.path, pattern: isFolder ? '**' : undefined }
}

interface Found {
  readonly candidates: readonly Candidate[]
  /** Names that are not UTF-8. */
  readonly unnameable: number
  readonly cut: boolean
  readonly unreadable: boolean
}

async function filesBelow(
  folder: string,
  pattern: string,
  { includeIgnored = false }: GlobArgs,
  { world, signal }: SearchOptions,
): Promise<Found> {
  const isMatch = picomatch(pattern, { dot: true })
  // Names with brackets are common and look like patterns; they are found when the pattern proper finds nothing.
  const literal = escaped(pattern)
  const isLiteralMatch = literal === pattern ? () => false : picomatch(literal, { dot: true })
  const names: string[] = []
  const literalNames: string[] = []
  let unnameable = 0
  const { stopped, unreadable } = await ripgrep({
    world,
    cwd: folder,
    args: ['--files', '--null', ...(includeIgnored ? ['--no-ignore'] : []), '--', './'],
    separator: 0,
    signal,
    onRecord(bytes) {
      const name = bytes && nameOf(bytes)?.slice(2)
      if (name === undefined) unnameable++
      else if (isMatch(name)) names.push(name)
      else if (isLiteralMatch(name)) literalNames.push(name)
      return names.length <= CANDIDATES_MAX && literalNames.length <= CANDIDATES_MAX
    },
  })
  const found = names.length > 0 ? names : literalNames
  const base = folder === '/' ? '' : folder
  const candidates = found.map((name) => ({ path: `${base}/${name}` }))
  return { candidates, unnameable: names.length > 0 ? 0 : unnameable, cut: stopped, unreadable }
}

/** Brackets and braces as characters of a name. */
const escaped = (pattern: string) => pattern.replace(/[[\]{}()!+@]/g, '\\$&')
