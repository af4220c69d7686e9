/** Owns the hint for a text that does not occur: what comes nearest, at which line, and in what it differs. */
import { nearMissPrompts } from './prompt.ts'

/** Larger files get no hint. */
export const NEAR_MISS_BYTES_MAX = 2 * 1024 * 1024

/** How many lines after the first one are compared. */
const AGREED_LINES_MAX = 50

/** The mark between the number and the text of a line as the read tool shows it. */
export const LINE_MARK = '\u2502'

const numbered = new RegExp(`^[ ]*\\d+${LINE_MARK}`)

/** `text` without line numbers as the read tool shows them, or `undefined` when not every line has one. */
export function withoutLineNumbers(text: string): string | undefined {
  const lines = text.split('\n')
  const body = lines.at(-1) === '' ? lines.slice(0, -1) : lines
  if (body.length === 0 || !body.every((line) => numbered.test(line))) return undefined
  return lines.map((line) => line.replace(numbered, '')).join('\n')
}

const unicode = (text: string) => text.normalize('NFC')
const quotes = (text: string) =>
  unicode(text)
    .replace(/[\u2018\u2019\u201A\u201B\u2032`\u00B4]/g, "'")
    .replace(/[\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll('\u2026', '...')
    .replace(/[\u00A0\u202F\u2007]/g, ' ')
const trailing = (text: string) => text.replace(/[ \t]+(?=\n|$)/g, '')
const blanks = (text: string) =>
  text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .trim()
const allBlanks = (text: string) => blanks(quotes(text))
const letterCase = (text: string) => allBlanks(text).toLowerCase()

const forms: readonly { readonly kind: keyof typeof nearMissPrompts.kinds; readonly fold: (text: string) => string }[] =
  [
    { kind: 'unicode', fold: unicode },
    { kind: 'quotes', fold: quotes },
    { kind: 'trailing', fold: trailing },
    { kind: 'blanks', fold: blanks },
    { kind: 'quotesAndBlanks', fold: allBlanks },
    { kind: 'letterCase', fold: letterCase },
  ]

/** What is nearest to `oldText` in `bytes`, in words; `undefined` when nothing is near. */
export function nearMiss(bytes: Buffer, oldText: string): string | undefined {
  if (bytes.length > NEAR_MISS_BYTES_MAX) return undefined
  const file = bytes.toString('utf8').replaceAll('\r\n', '\n')
  const old = oldText.replaceAll('\r\n', '\n')
  const bare = withoutLineNumbers(old)
  if (bare !== undefined) return nearMissPrompts.lineNumbers
  for (const { kind, fold } of forms) {
    const wanted = fold(old)
    if (wanted === '') continue
    const folded = fold(file)
    const at = folded.indexOf(wanted)
    if (at !== -1)
      return nearMissPrompts.differs(lineAt(folded, at) + blankLinesCut(file, fold), nearMissPrompts.kinds[kind])
  }
  return firstLine(file, old)
}

/** `trim` in a fold may drop leading line ends; the line number is counted in the whole file. */
function blankLinesCut(file: string, fold: (text: string) => string): number {
  if (fold !== blanks && fold !== allBlanks && fold !== letterCase) return 0
  return lineAt(file, file.length - file.trimStart().length) - 1
}

function lineAt(text: string, at: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++
  return line
}

/** Where the first line of the old text stands, and at which line the rest stops to agree. */
function firstLine(file: string, old: string): string | undefined {
  const wanted = old.split('\n')
  const first = wanted.findIndex((line) => line.trim() !== '')
  if (first === -1 || wanted.length === 1) return undefined
  const lines = file.split('\n')
  let best = { agreed: 0, at: -1 }
  for (let at = 0; at < lines.length; at++) {
    if (lines[at]?.trim() !== wanted[first]?.trim()) continue
    let agreed = 1
    while (agreed < AGREED_LINES_MAX && first + agreed < wanted.length && lines[at + agreed] === wanted[first + agreed])
      agreed++
    if (agreed > best.agreed) best = { agreed, at }
  }
  if (best.at === -1) return undefined
  return nearMissPrompts.partial(best.at + 1, best.at + best.agreed + 1)
}
