/** Owns which paths a pattern with wildcards means, told in a time that no pattern and no name can blow up. */
import { searchErrors } from './errors.ts'

/** Characters of all that the braces of a pattern stand for. */
export const EXPANDED_CHARS_MAX = 20_000

/** Set apart from every text by being no text. */
const STAR = Symbol('any characters')
const DEEP = Symbol('any folders')

/** A character that means itself, or a set of them. */
type Token = typeof STAR | string | ((char: string) => boolean)
type Part = typeof DEEP | ((name: string) => boolean)

/** `*` within a name, `**` as a whole name across folders, `?`, `[a-z]`, `[!a]`, `{a,b}`, `{1..9}`, `\` before a character that means itself.
 *  @throws SEARCH_PATTERN_TOO_WIDE */
export function wildcards(pattern: string): (path: string) => boolean {
  const alternatives = expanded(pattern).map(partsOf)
  return (path) => {
    let names: string[] | undefined
    return alternatives.some((parts) => {
      const [first, last] = parts
      // Most patterns are about a name at any depth.
      if (first === DEEP && typeof last === 'function' && parts.length === 2) {
        return last(path.slice(path.lastIndexOf('/') + 1))
      }
      names ??= path.split('/')
      return greedy(parts, names, DEEP, isName)
    })
  }
}

/** The pattern with its brackets and braces as characters of a name. */
export function withLiteralBrackets(pattern: string): string {
  return pattern.replace(/[[\]{}]/g, '\\$&')
}

/** Leftmost match for what stands between two wildcards: only the last wildcard ever takes more, so the time is the product of both lengths. */
function greedy<T>(
  wanted: readonly T[],
  given: readonly string[],
  wildcard: T,
  isMatch: (wanted: T, given: string) => boolean,
): boolean {
  let at = 0
  let next = 0
  let retry: { readonly at: number; next: number } | undefined
  while (next < given.length) {
    const want = wanted[at]
    if (want === wildcard) {
      retry = { at: ++at, next }
    } else if (want !== undefined && isMatch(want, given[next] as string)) {
      at++
      next++
    } else if (retry) {
      at = retry.at
      next = ++retry.next
    } else return false
  }
  while (wanted[at] === wildcard && at < wanted.length) at++
  return at === wanted.length
}

function isName(part: Part, name: string): boolean {
  return part === DEEP || part(name)
}

function isChar(token: Token, char: string): boolean {
  return typeof token === 'function' ? token(char) : token === char
}

function partsOf(text: string): Part[] {
  const parts = text
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map(partOf)
  // At the end it means the files below a folder, not a file that has the name of the folder.
  return parts.at(-1) === DEEP ? [...parts, nameTest([STAR])] : parts
}

function partOf(text: string): Part {
  if (text === '**') return DEEP
  if (!/[*?[\\]/.test(text)) return (name) => name === text
  const tokens: Token[] = []
  const chars = Array.from(text)
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string
    const set = char === '[' ? setAt(chars, at) : undefined
    if (set) {
      tokens.push(set.has)
      at = set.end
    } else if (char === '*') {
      if (tokens.at(-1) !== STAR) tokens.push(STAR)
    } else if (char === '?') tokens.push(() => true)
    else {
      const own = char === '\\' && at + 1 < chars.length ? (chars[++at] as string) : char
      tokens.push(own)
    }
  }
  return nameTest(tokens)
}

/** Characters around one star are compared at once. */
function nameTest(tokens: readonly Token[]): (name: string) => boolean {
  const star = tokens.indexOf(STAR)
  const around = tokens.filter((token) => typeof token === 'string')
  if (star === -1 || around.length < tokens.length - 1) {
    return (name) => greedy(tokens, Array.from(name), STAR, isChar)
  }
  const head = around.slice(0, star).join('')
  const tail = around.slice(star).join('')
  return (name) => name.length >= head.length + tail.length && name.startsWith(head) && name.endsWith(tail)
}

/** The set of characters that opens at `start`; nothing where it is not closed, so that the bracket means itself. */
function setAt(chars: readonly string[], start: number) {
  const isNegated = chars[start + 1] === '!' || chars[start + 1] === '^'
  const first = start + (isNegated ? 2 : 1)
  const end = chars.indexOf(']', first + 1)
  if (end === -1) return undefined
  const ranges: (readonly [string, string])[] = []
  for (let at = first; at < end; at++) {
    const from = chars[at] as string
    const isRange = chars[at + 1] === '-' && at + 2 < end
    ranges.push([from, isRange ? (chars[at + 2] as string) : from])
    if (isRange) at += 2
  }
  return { end, has: (char: string) => ranges.some(([from, to]) => from <= char && char <= to) !== isNegated }
}

/** Every pattern without braces that the braces stand for, from left to right. */
function expanded(pattern: string): string[] {
  const done: string[] = []
  const pending = [pattern]
  let chars = 0
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    chars += text.length
    if (chars > EXPANDED_CHARS_MAX) throw searchErrors('SEARCH_PATTERN_TOO_WIDE', { max: EXPANDED_CHARS_MAX })
    const braces = firstBraces(text)
    if (!braces) done.push(text)
    else {
      const { start, end, choices } = braces
      for (const choice of choices.toReversed()) pending.push(text.slice(0, start) + choice + text.slice(end))
    }
  }
  return done
}

/** The first braces that hold a choice; others are characters of a name. */
function firstBraces(text: string) {
  const open: { readonly start: number; readonly commas: number[] }[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '{') open.push({ start: at, commas: [] })
    else if (char === ',') open.at(-1)?.commas.push(at)
    else if (char === '}') {
      const braces = open.pop()
      const choices = braces && choicesOf(text, braces.start, braces.commas, at)
      if (braces && choices) return { start: braces.start, end: at + 1, choices }
    }
  }
  return undefined
}

function choicesOf(text: string, start: number, commas: readonly number[], end: number): string[] | undefined {
  if (commas.length > 0) return [start, ...commas].map((at, i) => text.slice(at + 1, commas[i] ?? end))
  const [, from, to] = /^(\d{1,6})\.\.(\d{1,6})$/.exec(text.slice(start + 1, end)) ?? []
  if (from === undefined || to === undefined) return undefined
  const count = Number(to) - Number(from) + 1
  if (count < 1 || count > EXPANDED_CHARS_MAX) return undefined
  return Array.from({ length: count }, (_, i) => String(Number(from) + i))
}
