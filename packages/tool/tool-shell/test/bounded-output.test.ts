import { expect, test } from 'vitest'
import { BoundedOutput } from '../src/bounded-output.ts'

const note = (omitted: number) => `<${omitted}>`
const bytes = (...values: number[]) => Uint8Array.from(values)
const text = (value: string) => new TextEncoder().encode(value)

test('what fits is kept whole', () => {
  const output = new BoundedOutput(10)
  const stream = output.stream()
  for (const piece of ['ab', '', 'cdefgh', 'ij']) stream.push(text(piece))
  expect(output.finish(note)).toEqual({ text: 'abcdefghij', omitted: 0 })
})

test('of more than fits the head and the tail are kept, however it comes in pieces', () => {
  for (const size of [1, 3, 7, 100_000]) {
    const output = new BoundedOutput(10)
    const stream = output.stream()
    const whole = `abcde${'.'.repeat(50_000)}vwxyz`
    for (let at = 0; at < whole.length; at += size) stream.push(text(whole.slice(at, at + size)))
    expect(output.finish(note)).toEqual({ text: 'abcde<50000>vwxyz', omitted: 50_000 })
  }
})

test('no half character stands at a cut', () => {
  const output = new BoundedOutput(6)
  output.stream().push(text('ab😀......😀yz'))
  expect(output.finish(note)).toEqual({ text: 'ab<10>yz', omitted: 10 })
})

// BUG-063
test('streams do not mix their characters or escape sequences', () => {
  const output = new BoundedOutput(100)
  const [one, two] = [output.stream(), output.stream()]
  for (const byte of [0xe2, 0x89, 0xa4]) {
    one.push(bytes(byte))
    two.push(bytes(byte))
  }
  for (const piece of ['\u001b', '[3', '1', 'mred', '\u001b]0;ti', 'tle\u0007!']) {
    one.push(text(piece))
    two.push(text('.'))
  }
  one.push(bytes(0xe2))
  expect(output.finish(note).text).toBe('≤≤...red..!.\ufffd')
})

test('an escape sequence that never ends is not waited for without bound', () => {
  const output = new BoundedOutput(100_000)
  const stream = output.stream()
  stream.push(text(`a\u001b]0;${'x'.repeat(5_000)}`))
  expect(output.finish(note).text).toContain('xxxx')
})

test('the newest characters can be looked at while it runs', () => {
  const output = new BoundedOutput(10)
  const stream = output.stream()
  stream.push(text('abc'))
  expect(output.latest(2)).toBe('bc')
  stream.push(text('.'.repeat(100)))
  expect(output.latest(3)).toBe('...')
})
