import { expect, test } from 'vitest'
import { applyPieces } from '../src/edit.ts'
import type { EditPiece } from '../src/index.ts'

const rules = { path: '/proj/f', bodyStart: 0, stale: false }
const bytes = (text: string) => Buffer.from(text, 'utf8')
const edit = (text: string, oldText: string, newText: string, more: Partial<EditPiece> = {}) =>
  applyPieces(bytes(text), [{ oldText, newText, ...more }], rules).toString('utf8')
const failure = (run: () => unknown): { code: string; message: string; data: Record<string, unknown> } => {
  try {
    run()
  } catch (error) {
    return error as { code: string; message: string; data: Record<string, unknown> }
  }
  throw new Error('nothing was thrown')
}

// BUG-039
test('dollar signs in the new text are plain text, once and everywhere', () => {
  const text = "x=$'y $& $$ $`z $1 $<n>"
  expect(edit('A old B\n', 'old', text)).toBe(`A ${text} B\n`)
  expect(edit('old old\n', 'old', text, { replaceAll: true })).toBe(`${text} ${text}\n`)
})

// BUG-040
test('LF in the request matches CRLF in the file, and inserted lines take CRLF', () => {
  expect(edit('a\r\nb\r\nc\r\n', 'a\nb', 'A\nB\nB2')).toBe('A\r\nB\r\nB2\r\nc\r\n')
  expect(edit('a\r\nb\r\n', 'a', 'x\ny')).toBe('x\r\ny\r\nb\r\n')
})

// BUG-040
test('CRLF in the request matches LF in the file and brings in no CR', () => {
  expect(edit('a\nb\n', 'a\r\nb', 'x\r\ny')).toBe('x\ny\n')
})

test('in a file of mixed line ends, lines that stay keep theirs', () => {
  expect(edit('1\r\n2\n3\r\n4\n', '1\n2\n3\n4', '1\n2\nnew\n3\n4')).toBe('1\r\n2\nnew\n3\r\n4\n')
  expect(edit('a\nb\r\nc\r\n', 'b\nc', 'b\nC')).toBe('a\nb\r\nC\r\n')
})

test('a text that begins or ends with a line end takes CRLF as one line end', () => {
  expect(edit('a\r\nb\r\nc', '\nb\n', '\nX\n')).toBe('a\r\nX\r\nc')
  expect(edit('a\r\nb\r\n', '\nb', '')).toBe('a\r\n')
  expect(failure(() => edit('a\r\n', 'a\r', 'b')).code).toBe('FS_NO_MATCH')
  expect(failure(() => edit('a\r\n', 'a\r\r\n', 'b\n')).code).toBe('FS_NO_MATCH')
})

// BUG-042
test('a byte-order mark is not needed in the old text and is never doubled', () => {
  const marked = { ...rules, bodyStart: 3 }
  const file = bytes('\uFEFFfirst\nsecond\n')
  expect(applyPieces(file, [{ oldText: 'first', newText: '1st' }], marked)).toEqual(bytes('\uFEFF1st\nsecond\n'))
  expect(applyPieces(file, [{ oldText: '\uFEFFfirst', newText: '\uFEFF1st' }], marked)).toEqual(
    bytes('\uFEFF1st\nsecond\n'),
  )
})

// BUG-044
test('tabs stay tabs, and blanks do not match them', () => {
  const file = 'all:\n\tcc a.c\n\tcc b.c\n'
  expect(edit(file, 'cc a.c', 'cc -g a.c')).toBe('all:\n\tcc -g a.c\n\tcc b.c\n')
  const { code, message } = failure(() => edit(file, '        cc a.c', 'x'))
  expect(code).toBe('FS_NO_MATCH')
  expect(message).toContain('line 2 is nearest and differs in blanks, tabs or indentation')
})

// BUG-044
test('an old text copied with line numbers is refused with a hint', () => {
  const { message } = failure(() => edit('all:\n\tcc a.c\n', ' 1\u2502all:\n 2\u2502\tcc a.c', 'x'))
  expect(message).toContain('it holds the line numbers of the read tool')
})

// BUG-046
test('none, several, overlapping and literal occurrences are told apart', () => {
  const several = failure(() => edit('aaaa\n', 'aa', 'b'))
  expect(several.code).toBe('FS_AMBIGUOUS')
  expect(several.data).toMatchObject({ count: 3, lines: [1, 1, 1] })
  expect(edit('aaaa\n', 'aa', 'b', { replaceAll: true })).toBe('bb\n')
  expect(failure(() => edit('aaaa\n', '', 'x')).code).toBe('FS_EMPTY_OLD_TEXT')
  expect(edit('a b c', ' ', '  ', { replaceAll: true })).toBe('a  b  c')
  expect(edit('abc a.c', 'a.c', 'hit')).toBe('abc hit')
  expect(failure(() => edit('one\n', 'one', 'one')).code).toBe('FS_NO_CHANGE')
  expect(failure(() => edit('x\ny\nx\n', 'x', 'z')).message).toContain('occurs 2 times in /proj/f (lines 1, 3)')
})

test('occurrences are counted up to a bound, and it is said', () => {
  expect(failure(() => edit('x\n'.repeat(20_000), 'x', 'z')).message).toContain('occurs at least 10000 times')
})

test('an empty old text fills an empty file', () => {
  expect(edit('', '', 'new\n')).toBe('new\n')
})

test('several pieces apply one after another or not at all', () => {
  const pieces = [
    { oldText: 'one', newText: 'two' },
    { oldText: 'two\nx', newText: 'three' },
  ]
  expect(applyPieces(bytes('one\nx\n'), pieces, rules).toString()).toBe('three\n')
  const { code, message } = failure(() => applyPieces(bytes('one\n'), pieces, rules))
  expect(code).toBe('FS_NO_MATCH')
  expect(message).toContain('the old text of piece 2')
})

test('a nearest miss names quotes, Unicode form, line ends of blanks and letter case', () => {
  const hint = (file: string, old: string) => failure(() => edit(file, old, 'x')).message
  expect(hint('a\nsay \u201Chi\u201D\n', 'say "hi"')).toContain('line 2 is nearest and differs in quotes')
  expect(hint('e\u0301te\u0301\n', '\u00E9t\u00E9')).toContain('line 1 is nearest and differs in the Unicode form')
  expect(hint('a  \nb\n', 'a\nb')).toContain('line 1 is nearest and differs in blanks at the end')
  expect(hint('\n\nHello World\n', 'hello world')).toContain('line 3 is nearest and differs in upper and lower case')
  expect(hint('a\nb\nc\n', 'a\nb\nX')).toContain('its first line is at line 1, but the text differs from line 3 on')
})

test('half a surrogate pair is refused before anything is written', () => {
  expect(failure(() => edit('a\n', 'a', '\uD83D')).code).toBe('FS_TEXT_INVALID')
})
