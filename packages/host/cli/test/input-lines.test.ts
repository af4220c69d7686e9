import { expect, test } from 'vitest'
import { InputLines } from '../src/input-lines.ts'

test('a line typed before a question is shown answers no question, and is kept for the conversation', async () => {
  const lines = new InputLines()
  lines.push('y')
  const answer = lines.fresh()
  lines.push('no')
  expect(await answer).toBe('no')
  expect(await lines.next()).toBe('y')
})

test('the end of input and a question that is settled elsewhere are no line', async () => {
  const lines = new InputLines()
  const gone = new AbortController()
  const settled = lines.fresh(gone.signal)
  gone.abort()
  expect(await settled).toBeUndefined()
  const ended = lines.next()
  lines.end()
  expect(await ended).toBeUndefined()
  expect(await lines.fresh()).toBeUndefined()
})
