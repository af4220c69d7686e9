/** Owns the lines that match in given files. */
import type { GrepArgs } from './arguments.ts'
import type { Candidate } from './candidates.ts'
import type { SearchOptions } from './glob.ts'
import { patternArgs } from './pattern.ts'
import { ellipsis } from './prompt.ts'
import { ripgrep } from './ripgrep.ts'
import type { GrepLine } from './types.ts'

/** Characters of one line that are shown, around its first match. */
export const LINE_CHARS_MAX = 400
/** Of those, before the match. */
const BEFORE_CHARS = 100

interface Text {
  readonly text?: string
  readonly bytes?: string
}

/** The part of ripgrep's JSON that is used. */
interface Message {
  readonly type: 'begin' | 'match' | 'context' | 'end' | 'summary'
  readonly data: {
    readonly path?: Text
    readonly lines?: Text
    readonly line_number?: number
    readonly submatches?: readonly { readonly start: number }[]
    readonly binary_offset?: number | null
  }
}

export interface FileMatches {
  readonly path: string
  readonly lines: readonly GrepLine[]
  /** How many of them match. */
  readonly matched: number
  readonly tooLong?: true
}

/** At most `limit` matches, in the order of `files`; binary files give none. */
export async function matchesIn(
  files: readonly Candidate[],
  args: GrepArgs,
  limit: number,
  { world, place, signal }: SearchOptions,
): Promise<{ readonly files: readonly FileMatches[]; readonly cut: boolean }> {
  const byPath = new Map<string, GrepLine[]>(files.map(({ path }) => [path, []]))
  const tooLong = new Set<string>()
  const decoder = new TextDecoder()
  let current = ''
  const { stopped } = await ripgrep({
    world,
    cwd: place.home,
    args: [
      '--json',
      // One more than is shown, so that a cut is noticed.
      `--max-count=${limit + 1}`,
      ...(args.context ? [`--context=${args.context}`] : []),
      ...patternArgs(args),
      '--',
      ...files.map(({ path }) => path),
    ],
    separator: 0x0a,
    signal,
    onRecord(bytes) {
      if (!bytes) {
        tooLong.add(current)
        return true
      }
      const { type, data } = JSON.parse(decoder.decode(bytes)) as Message
      const path = textOf(data.path)
      if (type === 'begin') current = path
      if (type === 'end' && data.binary_offset !== null) byPath.delete(path)
      if (type === 'match' || type === 'context') byPath.get(path)?.push(...linesOf(type, data))
      return true
    },
  })
  return bounded(byPath, tooLong, limit, stopped)
}

function bounded(
  byPath: ReadonlyMap<string, readonly GrepLine[]>,
  tooLong: ReadonlySet<string>,
  limit: number,
  stopped: boolean,
) {
  const files: FileMatches[] = []
  let left = limit
  let cut = stopped
  for (const [path, lines] of byPath) {
    const matches = lines.filter((line) => !line.context).length
    const isTooLong = tooLong.has(path)
    if (matches === 0 && !isTooLong) continue
    if (left === 0) {
      cut = true
      break
    }
    const kept = matches > left ? upToMatch(lines, left) : lines
    if (matches > left) cut = true
    const matched = Math.min(matches, left)
    files.push({ path, lines: kept, matched, ...(isTooLong && { tooLong: true as const }) })
    left -= matched
  }
  return { files, cut }
}

function upToMatch(lines: readonly GrepLine[], count: number): GrepLine[] {
  let left = count
  return lines.filter((line) => {
    if (left === 0) return false
    if (!line.context) left--
    return true
  })
}

function linesOf(type: 'match' | 'context', data: Message['data']): GrepLine[] {
  const whole = textOf(data.lines)
  const first = data.line_number ?? 1
  const start = data.submatches?.[0]?.start ?? 0
  // Offsets count bytes; only a line that is cut needs to know where the match is.
  const at = whole.length <= LINE_CHARS_MAX ? 0 : Buffer.from(whole).subarray(0, start).toString().length
  const lines = whole.replace(/\r?\n$/, '').split(/\r?\n/)
  return lines.map((text, index) => ({
    line: first + index,
    text: excerpt(text, index === 0 ? at : 0),
    ...(type === 'context' && { context: true as const }),
  }))
}

function excerpt(line: string, at: number): string {
  if (line.length <= LINE_CHARS_MAX) return line
  const from = Math.max(0, Math.min(at - BEFORE_CHARS, line.length - LINE_CHARS_MAX))
  const to = from + LINE_CHARS_MAX
  const shown = line.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return `${from > 0 ? ellipsis : ''}${shown}${to < line.length ? ellipsis : ''}`
}

/** Text that is not UTF-8 comes as base64; its odd bytes are replaced. */
function textOf(given: Text | undefined): string {
  if (given?.text !== undefined) return given.text
  return given?.bytes === undefined ? '' : Buffer.from(given.bytes, 'base64').toString('utf8')
}
