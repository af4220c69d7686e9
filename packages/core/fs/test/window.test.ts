import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countLineEnds, LineWindow } from '../src/window.ts'

const bytes = fc.uint8Array({ maxLength: 60 }).map((raw) => raw.map((byte) => (byte % 3 === 0 ? 10 : byte)))

test('line ends are counted right wherever the bytes start', () => {
  fc.assert(
    fc.property(bytes, fc.nat(7), fc.nat(10), (raw, shift, from) => {
      const whole = Buffer.concat([Buffer.alloc(shift, 10), Buffer.from(raw)])
      const part = whole.subarray(shift)
      const expected = [...part.subarray(from)].filter((byte) => byte === 10).length
      expect(countLineEnds(part, Math.min(from, part.length))).toBe(expected)
    }),
  )
})

test('a window is the same however the bytes are cut into pieces', () => {
  const text = fc
    .array(fc.constantFrom('a', 'bc', '\n', '\r\n', '\r', '\u00E9'), { maxLength: 40 })
    .map((all) => all.join(''))
  const cuts = fc.array(fc.nat(60), { maxLength: 5 })
  fc.assert(
    fc.property(
      text,
      cuts,
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (all, places, offset, limit) => {
        const raw = Buffer.from(all)
        const window = new LineWindow(offset, limit)
        let from = 0
        for (const to of [...places.map((place) => Math.min(place, raw.length)).sort((a, b) => a - b), raw.length]) {
          window.feed(raw.subarray(from, to))
          from = to
        }
        window.finish()
        const lines = all === '' ? [] : all.replace(/\n$/, '').split('\n')
        const shown = lines.slice(offset - 1, offset - 1 + limit)
        expect(window.lines.map((line) => line.bytes.toString())).toEqual(shown.map((line) => line.replace(/\r$/, '')))
        expect(window.linesSeen).toBe(lines.length)
      },
    ),
    { numRuns: 500 },
  )
})
