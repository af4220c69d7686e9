import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Backlog } from '../src/backlog.ts'
import { encodeRecord } from '../src/record.ts'

const json = (text: string) => JSON.stringify({ seq: 1, text })
/** Below and above what fits, and what is measured first; one byte a character and three. */
const texts = fc.tuple(
  fc.constantFrom<string[]>('', 'x', 'é', '漢', '😀'),
  fc.constantFrom<number[]>(1, 500, 2_700, 9_000, 40_000),
)
const steps = fc.array(fc.oneof(texts, fc.constantFrom('write', 'sync')), { maxLength: 60 })

// session-log 2.1: order is kept; 2.3: what is not acknowledged can be written again from memory.
test('records that wait stand in memory as they will in the file, and do not change while the disk reads them', () => {
  const check = fc.property(steps, fc.nat(1e6), (all, start) => {
    const backlog = new Backlog(start)
    let file = ''
    let synced = start
    let reading: { bytes: Buffer; as: string; end: number } | undefined
    for (const step of all) {
      if (step === 'write') {
        const bytes = backlog.from(synced)
        reading = { bytes, as: bytes.toString(), end: backlog.end }
      } else if (step === 'sync') {
        expect(reading?.bytes.toString()).toBe(reading?.as)
        if (reading) backlog.release((synced = reading.end))
        reading = undefined
      } else {
        const text = json(step[0].repeat(step[1]))
        backlog.add(text)
        file += encodeRecord(text)
      }
      const waiting = Buffer.from(file).subarray(synced - start)
      expect(backlog.from(synced).equals(waiting)).toBe(true)
      expect([backlog.end, backlog.size]).toEqual([synced + waiting.length, waiting.length])
    }
  })
  const tight: [string, number][][] = [
    // The second leaves less room behind it than the crc of its line takes, the ninth has three times as many bytes as characters.
    [
      ['x', 1],
      ['x', 65_475],
    ],
    Array.from({ length: 9 }, () => ['漢', 2_500]),
  ]
  fc.assert(check, { numRuns: 40, examples: tight.map((all) => [all, 0]) })
})
