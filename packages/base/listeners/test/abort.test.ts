/** Proves abort sources: who is told, in which order, and their signals. */
import { getEventListeners } from 'node:events'
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

// 12.2
it('all sources made for one signal share its one subscription, which goes with the last of them', () => {
  const { signal } = new AbortController()
  const listening = () => getEventListeners(signal, 'abort').length
  const sources = [new AbortSource(signal), new AbortSource(signal), new AbortSource(signal)]
  const below = new AbortSource(sources[0])
  below.on(() => {})
  expect(listening()).toBe(1)
  for (const source of sources.slice(1)) source.close()
  expect(listening()).toBe(1)
  sources[0]?.close()
  expect(listening()).toBe(0)
  new AbortSource(signal)
  expect(listening()).toBe(1)
})

// 7.6
it('an abort reaches every source below, callbacks in the order in which they were added, each once', () => {
  const controller = new AbortController()
  const top = new AbortSource(controller.signal)
  const middle = new AbortSource(top)
  const leaf = new AbortSource(middle)
  const told: string[] = []
  const drop = top.on(() => told.push('dropped'))
  const again = () => told.push('top')
  top.on(again)
  top.on(again)
  leaf.on(() => told.push(`leaf: ${String(leaf.reason)}`))
  top.on(() => told.push('top, later'))
  drop()
  const { signal } = middle
  controller.abort('stop')
  controller.abort('again')
  top.fire('again')
  expect(told).toEqual(['top', 'leaf: stop', 'top, later'])
  expect([signal.aborted, signal.reason, leaf.signal.reason]).toEqual([true, 'stop', 'stop'])
  leaf.on(() => told.push('late'))
  expect(new AbortSource(controller.signal)).toMatchObject({ aborted: true, reason: 'stop' })
  expect(told).toHaveLength(3)
})

// 7.6
it('a source that fired by itself keeps its reason and tells nobody twice, and nothing above it has fired', () => {
  const top = new AbortSource()
  const leaf = new AbortSource(top)
  const told: string[] = []
  leaf.on(() => told.push('leaf'))
  leaf.fire('deadline')
  expect([leaf.aborted, top.aborted, leaf.reason]).toEqual([true, false, 'deadline'])
  leaf.on(() => told.push('late'))
  top.fire('stop')
  expect([leaf.reason, leaf.signal.reason, told]).toEqual(['deadline', 'deadline', ['leaf']])
})

// 7.6
it('a signal fires with what is above its source, though nobody else follows that', () => {
  const top = new AbortSource()
  const { signal } = new AbortSource(new AbortSource(top))
  top.fire('stop')
  expect([signal.aborted, signal.reason]).toEqual([true, 'stop'])
})

// 7.6
it('a source that is closed stays as it is, whatever fires above it', () => {
  const top = new AbortSource()
  const [calm, fired] = [new AbortSource(top), new AbortSource(top)]
  const told: string[] = []
  calm.on(() => told.push('calm'))
  calm.close()
  top.fire('stop')
  fired.close()
  expect([calm.aborted, calm.signal.aborted, told]).toEqual([false, false, []])
  expect([fired.aborted, fired.reason, fired.signal.reason]).toEqual([true, 'stop', 'stop'])
})
