import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { decodeRecord, encodeRecord, Problem } from '../src/record.ts'

const json = '{"seq":3,"at":7,"type":"user/message","data":{"text":"é\u2028😀"}}'

function decoded(line: string): unknown {
  return decodeRecord(Buffer.from(line.replace(/\n$/, '')))
}

test('a line is one JSON object whose last key is the crc of the bytes before it', () => {
  const line = encodeRecord(json)
  expect(Object.keys(JSON.parse(line) as object)).toEqual(['seq', 'at', 'type', 'data', 'crc'])
  const [body] = line.split(',"crc":')
  expect((JSON.parse(line) as { crc: string }).crc).toBe(
    crc32(Buffer.from(body ?? ''))
      .toString(16)
      .padStart(8, '0'),
  )
  expect(decoded(line)).toEqual(JSON.parse(json))
})

test('any changed byte of a line is noticed', () => {
  const line = Buffer.from(encodeRecord(json).slice(0, -1))
  for (let at = 0; at < line.length; at++) {
    const changed = Buffer.from(line)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(decodeRecord(changed), `byte ${at}`).toBeInstanceOf(Problem)
  }
})

test('a line with a fitting crc that is no event is refused', () => {
  const strange = [
    '[1]',
    'null',
    '{}',
    '{"seq":-1,"at":1,"type":"a","data":1}',
    '{"seq":1,"at":"1","type":"a","data":1}',
    '{"seq":1,"at":1,"type":1,"data":1}',
    '{"seq":1,"at":1,"type":"a"}',
    '{"seq":1,"at":1,"type":"a","data":1,"cause":"x"}',
    '{"seq":1,"at":1,"type":"a","data":1,"optional":false}',
    `{"seq":1,"at":1,"type":"a","data":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    '{"seq":1,"at":1,"type":"a","data":}',
  ]
  for (const each of strange) expect(decoded(encodeRecord(each))).toMatchObject({ kind: 'bad-json' })
})

test('what does not belong to an event is left out', () => {
  const strange = '{"seq":3,"at":7,"type":"a","data":1,"cause":2,"optional":true,"more":1,"__proto__":{"x":1}}'
  expect(decoded(encodeRecord(strange))).toEqual({ seq: 3, at: 7, type: 'a', data: 1, cause: 2, optional: true })
  const event = decoded(encodeRecord('{"seq":3,"at":7,"type":"a","data":1,"optional":true}'))
  expect(Object.keys(event as object)).toEqual(['seq', 'at', 'type', 'data', 'optional'])
})
