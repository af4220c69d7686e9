import { expect, test } from 'vitest'
import { textStream } from '../src/text-stream.ts'

const text = (value: string) => new TextEncoder().encode(value)

/** Streams that write into one text, as those of a command do. */
function pair() {
  let all = ''
  const add = (piece: string) => void (all += piece)
  const streams = [textStream(add), textStream(add)] as const
  return {
    streams,
    finish: () => {
      for (const stream of streams) stream.flush()
      return all
    },
  }
}

// BUG-063
test('streams do not mix their characters or escape sequences', () => {
  const {
    streams: [one, two],
    finish,
  } = pair()
  for (const byte of [0xe2, 0x89, 0xa4]) {
    one.push(Uint8Array.of(byte))
    two.push(Uint8Array.of(byte))
  }
  for (const piece of ['\u001b', '[3', '1', 'mred', '\u001b]0;ti', 'tle\u0007!']) {
    one.push(text(piece))
    two.push(text('.'))
  }
  one.push(Uint8Array.of(0xe2))
  expect(finish()).toBe('≤≤...red..!.\ufffd')
})

test('an escape sequence that never ends is not waited for without bound', () => {
  const {
    streams: [stream],
    finish,
  } = pair()
  stream.push(text(`a\u001b]0;${'x'.repeat(5_000)}`))
  expect(finish()).toContain('xxxx')
})
