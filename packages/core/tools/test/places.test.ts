/** Proves how many bodies of one session run at once: a call with running nested calls lends them its place. */
import type { JsonObject } from '@sluice/base'
import { AbortSource } from '@sluice/listeners'
import { probeTool } from '@sluice/testkit'
import type { CallRequest, Run, SettledCall } from '@sluice/tools'
import { expect, it } from 'vitest'
import { type Holder, Parallelism, Slots } from '../src/slots.ts'
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

/** A bench with tools that take `ms` and note when they start and end; `tree` calls `leaf` with each of its `leaves` at once. */
async function grove(parallelMax: number) {
  const bench = await soundBench({ config: { parallelMax, graceMs: 50 } })
  const log: string[] = []
  const wait = (ms: unknown) => new Promise<void>((resolve) => bench.world.clock.timer(Number(ms), resolve))
  const leaf = async ({ n, ms }: JsonObject) => {
    log.push(`${String(n)} in`)
    await wait(ms)
    log.push(`${String(n)} out`)
  }
  const tree = ({ leaves }: JsonObject, run: Run) =>
    Promise.all((leaves as readonly JsonObject[]).map((args) => run.call('leaf', args)))
  await bench.register(probeTool({ name: 'leaf', overlap: 'parallel', body: leaf }).definition)
  await bench.register(probeTool({ name: 'tree', overlap: 'parallel', body: tree }).definition)
  return { bench, log }
}

// 10.2
it('a nested call that waits for a place gets the first one that is free, whoever leaves it', async () => {
  const { bench, log } = await grove(2)
  const leaves = [
    { n: 1, ms: 100 },
    { n: 2, ms: 1 },
  ]
  const calls: CallRequest[] = [
    { id: 'other', tool: 'leaf', arguments: { n: 'other', ms: 10 } },
    { id: 'tree', tool: 'tree', arguments: { leaves } },
  ]
  await bench.ctx.tools.batch({ session: bench.session, calls })
  expect(log).toEqual(['other in', '1 in', 'other out', '2 in', '2 out', '1 out'])
})

// 10.2
it('a call that is left before its nested calls gives their one place back when the last of them ends', () => {
  const parallelism = new Parallelism(1)
  const group = new Slots(parallelism)
  const source = new AbortSource()
  const need = { reads: new Set<string>(), writes: new Set<string>() }
  const outer = group.take('outer', need, source) as Holder
  const inner = new Slots(parallelism, outer)
  const nested = inner.take('nested', need, source) as Holder
  group.leave(outer, true)
  expect(parallelism.isFree(undefined)).toBe(false)
  inner.leave(nested, false)
  expect(parallelism.isFree(undefined)).toBe(true)
  expect(group.take('next', need, source)).not.toBeInstanceOf(Promise)
  expect(group.take('last', need, source)).toBeInstanceOf(Promise)
})
