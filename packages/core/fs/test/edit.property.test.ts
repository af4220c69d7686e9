import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyPieces } from '../src/edit.ts'

const ending = fc.constantFrom('\n', '\r\n', '\r')
const junk = fc.uint8Array({ minLength: 0, maxLength: 6 })
const word = fc.string({ unit: 'grapheme', maxLength: 8 })
const line = fc.tuple(word, fc.option(junk, { freq: 4 }), ending)
const file = fc.tuple(fc.boolean(), fc.array(line, { maxLength: 12 })).map(([mark, lines]) => {
  const parts = lines.flatMap(([text, bytes, end]) => [Buffer.from(text), Buffer.from(bytes ?? []), Buffer.from(end)])
  return Buffer.concat([Buffer.from(mark ? '\uFEFF' : ''), ...parts])
})

test('every byte outside the match is unchanged, whatever the file holds', () => {
  fc.assert(
    fc.property(file, file, fc.constantFrom('\n', '\r\n'), word, (before, after, end, newText) => {
      const old = `<<${end}\u00B6>>`
      const marked = before.subarray(0, 3).equals(Buffer.from('\uFEFF'))
      const bytes = Buffer.concat([before, Buffer.from(old), after])
      const bodyStart = marked ? 3 : 0
      const next = applyPieces(bytes, [{ oldText: '<<\n\u00B6>>', newText }], { path: 'f', bodyStart, stale: false })
      const replaced = bodyStart > 0 && newText.startsWith('\uFEFF') ? newText.slice(1) : newText
      expect(next).toEqual(Buffer.concat([before, Buffer.from(replaced), after]))
    }),
    { numRuns: 300 },
  )
})

test('replacing every occurrence leaves the bytes between them', () => {
  fc.assert(
    fc.property(fc.array(file, { minLength: 2, maxLength: 5 }), (parts) => {
      const join = (text: string) =>
        Buffer.concat(parts.flatMap((part, i) => (i === 0 ? [part] : [Buffer.from(text), part])))
      const piece = { oldText: '\u2021mark\u2021', newText: '$& $1', replaceAll: true }
      expect(applyPieces(join('\u2021mark\u2021'), [piece], { path: 'f', bodyStart: 0, stale: false })).toEqual(
        join('$& $1'),
      )
    }),
    { numRuns: 200 },
  )
})
