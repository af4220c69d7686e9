/** Proves abort sources: their signals. */
import { expect, it } from 'vitest'
import { AbortSource } from '../src/index.ts'

// 11.2
it('a signal serves any number of listeners without a warning of a leak', async () => {
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  process.on('warning', note)
  const { signal } = new AbortSource()
  for (let i = 0; i < 20; i++) signal.addEventListener('abort', () => {})
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', note)
  expect(warnings).toEqual([])
})
