import { turn } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { BoundedOutput } from '../src/bounded-output.ts'
import { KEPT_BYTES_MAX, WAITING_CHARS_MAX } from '../src/kept-output.ts'

/** An output whose blob is what was stored, once the disk is free. */
function outputOf(charsMax: number, free: Promise<void> = Promise.resolve()) {
  const stored: Uint8Array[] = []
  const output = new BoundedOutput(charsMax, async (pieces) => {
    await free
    for await (const piece of pieces) stored.push(piece)
    const size = stored.reduce((sum, { length }) => sum + length, 0)
    return { digest: 'd', size }
  })
  return { output, stored, text: () => Buffer.concat(stored).toString() }
}

test('what fits is shown whole, and nothing is stored', () => {
  const { output, stored } = outputOf(10)
  for (const piece of ['ab', '', 'cdefgh', 'ij']) output.add(piece)
  expect(output.finish()).toEqual({ head: 'abcdefghij', tail: '', omitted: 0 })
  const fine = outputOf(4_000)
  for (let i = 0; i < 4_000; i++) fine.output.add('x')
  expect(fine.output.finish()).toEqual({ head: 'x'.repeat(4_000), tail: '', omitted: 0 })
  expect([stored, fine.stored]).toEqual([[], []])
})

test('of more than fits head and tail are shown and the whole is kept, however it comes in pieces', async () => {
  const whole = `abcde${'.'.repeat(50_000)}vwxyz`
  for (const size of [1, 3, 7, 100_000]) {
    const { output, text } = outputOf(10)
    for (let at = 0; at < whole.length; at += size) output.add(whole.slice(at, at + size))
    const { kept, ...shown } = output.finish()
    expect(shown).toEqual({ head: 'abcde', tail: 'vwxyz', omitted: 50_000 })
    expect(await kept).toEqual({ blob: { digest: 'd', size: whole.length }, all: true })
    expect(text()).toBe(whole)
  }
})

test('output is stored while it comes, and what is sealed can be finished later', async () => {
  const { output, stored } = outputOf(10)
  output.add('.'.repeat(100))
  await turn()
  expect(stored).toHaveLength(1)
  output.add('last')
  await output.seal()
  expect(stored).toHaveLength(2)
  expect(await output.finish().kept).toMatchObject({ blob: { size: 104 }, all: true })
})

test('of more than is kept the beginning is kept, to the character', async () => {
  const { output, stored } = outputOf(10)
  const piece = '…'.repeat(1_000_000)
  for (let bytes = 0; bytes < KEPT_BYTES_MAX; bytes += 3 * piece.length) {
    output.add(piece)
    await turn()
  }
  const size = KEPT_BYTES_MAX - (KEPT_BYTES_MAX % 3)
  expect(await output.finish().kept).toEqual({ blob: { digest: 'd', size }, all: false })
  expect(new TextDecoder('utf-8', { fatal: true }).decode(stored.at(-1))).toMatch(/^…+$/)
})

test('of output that comes faster than it is stored the beginning is kept', async () => {
  let release!: () => void
  const { output } = outputOf(
    10,
    new Promise((resolve) => {
      release = resolve
    }),
  )
  for (let chars = 0; chars <= WAITING_CHARS_MAX; chars += 1_000_000) output.add('x'.repeat(1_000_000))
  const { kept } = output.finish()
  release()
  expect(await kept).toEqual({ blob: { digest: 'd', size: 16_000_000 }, all: false })
})

test('output that cannot be stored says so when it is finished, and nothing waits for it', async () => {
  const output = new BoundedOutput(10, () => Promise.reject(new Error('no space left')))
  output.add('.'.repeat(100))
  await output.seal()
  output.add('.'.repeat(100))
  await expect(output.finish().kept).rejects.toThrow('no space left')
})

test('no half character stands at a cut', () => {
  const { output } = outputOf(6)
  output.add('ab😀......😀yz')
  expect(output.finish()).toMatchObject({ head: 'ab', tail: 'yz', omitted: 10 })
})

test('the newest characters can be looked at while it runs', () => {
  const { output } = outputOf(10)
  output.add('abc')
  expect(output.latest(2)).toBe('bc')
  output.add('.'.repeat(100))
  expect(output.latest(3)).toBe('...')
})
