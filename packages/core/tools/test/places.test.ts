/** Proves how many bodies of one session run at once: a call with running nested calls lends them its place. */
import { probeTool } from '@sluice/testkit'
import type { CallRequest, SettledCall } from '@sluice/tools'
import { expect, it } from 'vitest'
import { soundBench } from './sound.ts'

// 10.2
it('a body that waits for nested calls leaves its place to others, and goes on when it has one again', async () => {
  const bench = await soundBench({ config: { parallelMax: 1 } })
  let running = 0
  let most = 0
  const wait = async (ms: number) => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
    running--
  }
  await bench.register(probeTool({ name: 'leaf', overlap: 'parallel', body: () => wait(10) }).definition)
  await bench.register(
    probeTool({
      name: 'tree',
      overlap: 'parallel',
      body: async (_args, run) => {
        for (let i = 0; i < 3; i++) {
          await wait(5)
          await Promise.all([run.call('leaf', {}), run.call('leaf', {})])
        }
        await wait(5)
      },
    }).definition,
  )
  const calls = ['tree', 'leaf', 'tree', 'leaf'].map((tool, i): CallRequest => ({ id: `b${i}`, tool, arguments: {} }))
  const { calls: settled } = await bench.ctx.tools.batch({ session: bench.session, calls })
  expect(settled.map(({ result }) => result.outcome.tag)).toEqual(Array(4).fill('succeeded'))
  expect([most, running]).toEqual([1, 0])
})

// 10.2
it('a body has its place back as soon as its last nested call has left it, whoever waits', async () => {
  const bench = await soundBench({ config: { parallelMax: 1 } })
  const log: string[] = []
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  let hog: Promise<SettledCall> | undefined
  const hogs = probeTool({ name: 'hog', overlap: 'parallel', body: () => void log.push('hog') })
  await bench.register(hogs.definition)
  await bench.register(
    probeTool({ name: 'leaf', overlap: 'parallel', body: () => void (hog = bench.call('hog')) }).definition,
  )
  await bench.register(
    probeTool({
      name: 'tree',
      overlap: 'parallel',
      body: async (_args, run) => {
        await run.call('leaf', {})
        log.push('tree goes on')
        await wait(10)
        log.push('tree ends')
      },
    }).definition,
  )
  await bench.call('tree')
  expect((await hog)?.result.outcome.tag).toBe('succeeded')
  expect(log).toEqual(['tree goes on', 'tree ends', 'hog'])
})

// 10.2
it('a body that does not wait for its nested calls counts as running when the last of them has ended', async () => {
  const bench = await soundBench({ config: { parallelMax: 1 } })
  const log: string[] = []
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  const leaf = async (args: object) => {
    log.push(`${JSON.stringify(args)} in`)
    await wait(10)
    log.push(`${JSON.stringify(args)} out`)
  }
  await bench.register(probeTool({ name: 'leaf', overlap: 'parallel', body: leaf }).definition)
  await bench.register(
    probeTool({
      name: 'tree',
      overlap: 'parallel',
      body: async (_args, run) => {
        void run.call('leaf', { n: 1 })
        void run.call('leaf', { n: 2 })
        await wait(50)
        log.push('tree out')
      },
    }).definition,
  )
  const calls = ['tree', 'leaf'].map((tool, n): CallRequest => ({ id: `b${n}`, tool, arguments: {} }))
  await bench.ctx.tools.batch({ session: bench.session, calls })
  const nested = ['{"n":1} in', '{"n":1} out', '{"n":2} in', '{"n":2} out']
  expect(log).toEqual([...nested, 'tree out', '{} in', '{} out'])
})
