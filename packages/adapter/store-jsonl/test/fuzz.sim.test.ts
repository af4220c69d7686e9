import { isSluiceError } from '@sluice/base'
import type { SessionEvent } from '@sluice/session'
import fc from 'fast-check'
import { simWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, LOG, machineWith, mount, user } from './kit.ts'

const RUNS = 150 * Number(process.env['SLUICE_SEEDS_FACTOR'] ?? 1)

interface Damage {
  readonly kind: 'flip' | 'cut' | 'insert' | 'zero'
  /** Place, as a part of the length. */
  readonly at: number
  readonly length: number
  readonly bytes: Uint8Array
}

const damages = fc.array(
  fc.record<Damage>({
    kind: fc.constantFrom('flip', 'cut', 'insert', 'zero'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 1, max: 300 }),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 4 },
)

function harmed(whole: Buffer, each: Damage): { bytes: Buffer; from: number } {
  const from = Math.min(whole.length - 1, Math.floor(each.at * whole.length))
  const before = whole.subarray(0, from)
  const end = Math.min(whole.length, from + each.length)
  const hit = Buffer.from(whole.subarray(from, end))
  if (each.kind === 'cut') return { bytes: Buffer.concat([before, whole.subarray(end)]), from }
  if (each.kind === 'insert') return { bytes: Buffer.concat([before, each.bytes, whole.subarray(from)]), from }
  if (each.kind === 'zero') return { bytes: Buffer.concat([before, hit.fill(0), whole.subarray(end)]), from }
  hit[0] = (hit[0] ?? 0) ^ (1 << (each.length & 7))
  return { bytes: Buffer.concat([before, hit, whole.subarray(end)]), from }
}

/** How many whole records end before `offset`. */
function recordsBefore(text: Buffer, offset: number): number {
  let count = 0
  for (let at = text.indexOf(10); at >= 0 && at < offset; at = text.indexOf(10, at + 1)) count++
  return count
}

test('whatever bytes are flipped, cut, inserted or zeroed, opening gives every event before, or a typed error', async () => {
  const original = await machineWith(12)
  const { events } = await jsonlStore(original, DIR).open('s', 'read')
  const whole = Buffer.from(original.disk.text(LOG) ?? '')
  await fc.assert(
    fc.asyncProperty(damages, async (list) => {
      let bytes: Buffer = whole
      let first = whole.length
      for (const damage of list) {
        if (bytes.length === 0) break
        const step = harmed(bytes, damage)
        bytes = step.bytes
        first = Math.min(first, step.from)
      }
      const world = simWorld({ files: { [LOG]: { content: bytes, mode: 0o600 } } })
      await opensOrSaysWhy(world, events.slice(0, recordsBefore(whole, first)))
    }),
    { numRuns: RUNS },
  )
})

async function opensOrSaysWhy(world: ReturnType<typeof simWorld>, before: readonly SessionEvent[]): Promise<void> {
  const { sessions } = await mount(world)
  const opened = await sessions.open('s').catch((error: unknown) => error)
  if (opened instanceof Error) {
    expect(isSluiceError(opened)).toBe(true)
    expect(before).toEqual([])
    return
  }
  const session = opened as Awaited<ReturnType<typeof sessions.open>>
  expect(session.events.slice(0, before.length)).toEqual(before)
  session.messages()
  if (!session.writable) {
    expect(session.findings.length).toBeGreaterThan(0)
    await session.close()
    await sessions.repair('s')
    {
      expect((await sessions.open('s')).writable).toBe(true)
      return
    }
  }
  user(session, 'goes on')
  await session.close()
  expect((await sessions.open('s', 'read')).findings).toEqual([])
}

test('whatever stands in a line whose crc fits, opening never fails with an untyped error', async () => {
  const types = ['assistant/message', 'tool/result', 'tool/call', 'compaction/done', 'user/message', 'session/started']
  const { encodeRecord } = await import('../src/record.ts')
  const record = fc.record({
    seq: fc.nat(3),
    at: fc.oneof(fc.nat(), fc.string()),
    type: fc.oneof(fc.constantFrom(...types), fc.string()),
    data: fc.jsonValue({ maxDepth: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 6 }), async (records) => {
      const content = records.map((each, seq) => encodeRecord(JSON.stringify({ ...each, seq }))).join('')
      const world = simWorld({ files: { [LOG]: { content, mode: 0o600 } } })
      const { sessions } = await mount(world)
      const opened = await sessions.open('s').catch((error: unknown) => error)
      if (opened instanceof Error) {
        expect(isSluiceError(opened), String(opened.stack)).toBe(true)
        return
      }
      const session = opened as Awaited<ReturnType<typeof sessions.open>>
      session.messages()
      await session.close()
      if (session.findings.length === 0) return
      const repaired = await sessions.repair('s').catch((error: unknown) => error)
      if (repaired instanceof Error) {
        expect(repaired).toMatchObject({ code: 'SESSION_NOT_A_LOG' })
        return
      }
      // What a plugin wrote that is not here stays, and keeps the session from being written.
      const allowed = ['unknown-type', 'torn-tail']
      const { findings } = await sessions.open('s')
      expect(findings.filter(({ kind }) => !allowed.includes(kind))).toEqual([])
    }),
    { numRuns: RUNS },
  )
})
