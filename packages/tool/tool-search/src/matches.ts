/** Owns the lines that match, as ripgrep tells them. */
import type { GrepArgs } from './arguments.ts'
import { patternArgs } from './pattern.ts'
import { ellipsis } from './prompt.ts'
import { type Reader, Records } from './records.ts'
import type { GrepFile, GrepLine } from './types.ts'

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

/** What is shown of the files that match. */
export interface Lines {
  readonly files: readonly GrepFile[]
  /** How many of the lines match. */
  readonly hits: number
  readonly cut: boolean
}

/** How many lines, and bytes of what ripgrep tells of them, one run may hold. */
export interface Room {
  readonly lines: number
  readonly bytes: number
}

/** What one run found, by file. */
export class Matches {
  /** Names that are not UTF-8. */
  unnameable = 0
  private readonly byPath = new Map<string, GrepLine[]>()
  private readonly tooLong = new Set<string>()
  private readonly wants: (path: string) => boolean
  private readonly decoder = new TextDecoder()
  private current = ''
  private lines = 0
  private bytes = 0

  constructor(wants: (path: string) => boolean) {
    this.wants = wants
  }

  get paths(): string[] {
    return Array.from(this.byPath.keys())
  }

  /** `false` once there is no more room. */
  reader(room: Room): Reader {
    return new Records(0x0a, (bytes) => {
      if (bytes) this.take(JSON.parse(this.decoder.decode(bytes)) as Message)
      else this.tooLong.add(this.current)
      this.bytes += bytes?.length ?? 0
      return this.lines <= room.lines && this.bytes <= room.bytes
    })
  }

  /** At most `limit` matches, in the order of `paths`; binary files give none. */
  of(paths: readonly string[], limit: number): Lines {
    const files: GrepFile[] = []
    let hits = 0
    for (const path of paths) {
      const lines = this.byPath.get(path) ?? []
      const matches = lines.filter((line) => !line.context).length
      const isTooLong = this.tooLong.has(path)
      if (matches === 0 && !isTooLong) continue
      const left = limit - hits
      if (left === 0) return { files, hits, cut: true }
      const isCut = matches > left
      files.push({ path, lines: isCut ? upToMatch(lines, left) : lines, ...(isTooLong && { tooLong: true as const }) })
      if (isCut) return { files, hits: limit, cut: true }
      hits += matches
    }
    return { files, hits, cut: false }
  }

  private take({ type, data }: Message): void {
    const path = textOf(data.path)
    if (type === 'begin') {
      this.current = path
      if (data.path?.text === undefined) this.unnameable++
      else if (this.wants(path)) this.byPath.set(path, [])
    }
    if (type === 'end' && data.binary_offset !== null) this.byPath.delete(path)
    if (type !== 'match' && type !== 'context') return
    const found = linesOf(type, data)
    this.byPath.get(path)?.push(...found)
    this.lines += found.length
  }
}

/** At most one match more than is shown, so that a cut is noticed. */
export function linesArgs({ context, ...args }: GrepArgs, limit: number): string[] {
  return ['--json', `--max-count=${limit + 1}`, ...(context ? [`--context=${context}`] : []), ...patternArgs(args)]
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
