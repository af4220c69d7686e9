import { expect, test } from 'vitest'
import { PREVIEW_MAX, type SessionEvent } from '../src/index.ts'
import { freshSession, mount } from './mount.ts'
import { resultData } from './say.ts'

const long = { rows: Array.from({ length: 4_000 }, (_, index) => `row ${index}`) }

test('a tool value that is too long for a line becomes a blob, and the event shows how it begins', async () => {
  const session = await freshSession()
  const event = session.append('tool/result', { ...resultData('a'), value: long })
  const { value, valueBlob } = event.data
  expect(value).toBeUndefined()
  expect(valueBlob?.preview).toBe(JSON.stringify(long).slice(0, PREVIEW_MAX))
  await session.durable()
  const bytes = await session.getBlob(valueBlob!.blob)
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(long)
  const stored = session.events[event.seq - 1] as SessionEvent<'blob/stored'>
  expect(stored).toMatchObject({ type: 'blob/stored', data: { blob: valueBlob?.blob } })
})

test('the value of a nested call is taken out as well', async () => {
  const session = await freshSession()
  const result = { ...resultData('n'), value: long }
  const event = session.append('tool/code-dispatch', { callId: 'n', parent: 'a', phase: 'settle', result })
  expect(event.data.result?.valueBlob).toBeDefined()
  expect(event.data.result?.value).toBeUndefined()
})

test('short values and text that a model reads stay in the event', async () => {
  const session = await freshSession()
  const content = 'x'.repeat(100_000)
  const event = session.append('tool/result', { ...resultData('a', content), value: 'x'.repeat(30_000) })
  expect(event.data.value).toHaveLength(30_000)
  expect(event.data.content).toEqual([{ type: 'text', text: content }])
  expect(session.events).toHaveLength(2)
})

test('the same long value is stored once', async () => {
  const session = await freshSession()
  session.append('tool/result', { ...resultData('a'), value: long })
  session.append('tool/result', { ...resultData('b'), value: long })
  expect(session.events.filter((event) => event.type === 'blob/stored')).toHaveLength(1)
})

test.each([
  ['is as long as the bound', 'x'.repeat(98), 'inline'],
  ['is one byte longer', 'x'.repeat(99), 'blob'],
  ['has few characters of many bytes', '漢'.repeat(33), 'blob'],
  ['has few characters that are escaped', '\u0001'.repeat(17), 'blob'],
  ['has many numbers', Array.from({ length: 51 }, () => 1), 'blob'],
  ['has long keys', { ['k'.repeat(96)]: 1 }, 'blob'],
])('the bound is configuration, in bytes of JSON: a value that %s', async (_, value, where) => {
  const { ctx } = await mount(undefined, { inlineBytesMax: 100 })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const { data } = session.append('tool/result', { ...resultData('a'), value })
  expect(data.valueBlob ? 'blob' : 'inline').toBe(where)
  expect(Buffer.byteLength(JSON.stringify(value)) > 100).toBe(where === 'blob')
})
