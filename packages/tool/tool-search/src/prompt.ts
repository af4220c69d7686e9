/** Owns every string of this package that a model reads. */
import type { GlobValue, GrepFile, GrepValue, SearchNotes } from './types.ts'

const common = [
  'Files that ignore files exclude are left out unless includeIgnored is true; .git always is.',
  'Links are not followed. Newest files come first.',
].join(' ')

export const globDescription = [
  'Finds files by the pattern of their path: * within a name, ** across folders, ? one character, [ab], {a,b}.',
  'A pattern that is the path of something that exists means just that, whatever characters it holds.',
  common,
].join(' ')

export const grepDescription = [
  'Searches the content of files with a regular expression (ripgrep), or for plain text with literal.',
  'Binary files, and files that may not be read, are left out.',
  common,
].join(' ')

export const parameterTexts = {
  globPattern: 'Such as src/**/*.ts; relative to path. *.ts finds files right there only, **/*.ts everywhere below.',
  globPath: 'Folder to search; default: the working folder.',
  grepPattern: 'Regular expression, matched line by line.',
  grepPath: 'File or folder to search; default: the working folder.',
  glob: 'Only files like this: *.ts is compared with names at any depth, src/**/*.ts with paths below path.',
  literal: 'The pattern is plain text.',
  ignoreCase: 'Upper and lower case are the same.',
  multiline: 'The pattern may span lines; . matches line ends too.',
  output: 'content: matching lines; files: paths only; count: matches per file. Default: content.',
  context: 'Lines to show before and after each match.',
  limit: 'How many hits to show.',
  includeIgnored: 'Search what ignore files exclude too.',
}

export const nothingAt = (path: string) => `There is nothing at ${path}.`
export const badPattern = (problem: string) =>
  `The pattern is no regular expression: ${problem}\nUse literal: true to search for it as plain text.`
export const tooWide = (max: number) =>
  `The braces of the pattern stand for more than ${max} characters of patterns. Use a wildcard instead.`
export const failed = (problem: string) => `The search failed: ${problem}.`

/** Stands where a long line was cut. */
export const ellipsis = '…'

export function globText(value: GlobValue): string {
  const head = value.paths.length === 0 ? ['No files found.'] : value.paths
  return [...head, ...notesText(value, 'files')].join('\n')
}

export function grepText(value: GrepValue): string {
  const head = value.files.length === 0 ? ['No matches found.'] : value.files.map(fileText)
  return [...head, ...notesText(value, value.what === 'content' ? 'matches' : 'files')].join('\n')
}

function fileText({ path, lines, count, tooLong }: GrepFile): string {
  if (count !== undefined) return `${path}: ${count}`
  if (lines === undefined) return path
  let before = 0
  const shown = lines.map(({ line, text, context }) => {
    const gap = before > 0 && line > before + 1 && lines.some((other) => other.context) ? '  --\n' : ''
    before = line
    return `${gap}  ${line}${context ? '-' : ':'} ${text}`
  })
  return [path, ...shown, ...(tooLong ? ['  [lines that match are too long to be shown]'] : [])].join('\n')
}

function notesText({ more, withheld, unreadable }: SearchNotes, what: string): string[] {
  const notes: string[] = []
  if (more === true) notes.push(`[there are more ${what}; narrow the search to see them]`)
  else if (more > 0) notes.push(`[${more} more ${what}; narrow the search or raise limit to see them]`)
  if (withheld > 0) notes.push(`[${withheld} matching files may not be read and are not shown]`)
  if (unreadable) notes.push('[some files or folders could not be read]')
  return notes
}
