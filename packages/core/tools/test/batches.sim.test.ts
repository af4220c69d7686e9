/** Proves batches over random compositions in the simulated World; `pnpm sim` runs ten thousand. */
import { getEventListeners } from 'node:events'
import * as approvalPlugin from '@sluice/approval'
import { flushMicrotasks, seededRandom } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { faultyStore } from './faulty-store.ts'
import { makeBench } from './kit.ts'
import { ABORT_MS_MAX, callsAtRandom, Chance, mountAtRandom } from './random-calls.ts'
import { unsound } from './sound.ts'

const BATCHES = Number(process.env['SLUICE_SIM_BATCHES'] ?? 300)
/** Batches that one composition runs, one after another or at once. */
const EACH = 5

async function compose(seed: number): Promise<Chance> {
  const random = seededRandom(seed)
  const sick = random.int(8) === 0
  const durable = () => (sick && random.int(2) === 0 ? Promise.reject(new Error('disk full')) : Promise.resolve())
  const bench = await makeBench({
    store: faultyStore({ durable }),
    config: {
      otherwise: random.pick(['allow', 'allow', 'ask']),
      parallelMax: 1 + random.int(3),
      graceMs: 1 + random.int(80),
      listenerTimeoutMs: 150,
    },
  })
  await bench.ctx.plugin(approvalPlugin, { expiryMs: 250 })
  return new Chance(random, bench)
}

async function runBatch(chance: Chance): Promise<void> {
  const { bench, random } = chance
  const abort = new AbortController()
  bench.world.clock.timer(random.int(ABORT_MS_MAX), () => abort.abort())
  const calls = callsAtRandom(chance)
  const settled = await bench.ctx.tools.batch({
    session: bench.session,
    calls,
    agent: 'main',
    signal: abort.signal,
    ...(chance.one(12) && { cutOff: 'length' }),
  })
  expect(settled.calls.map(({ result }) => result.tool)).toEqual(calls.map(({ tool }) => tool))
  for (const { data } of settled.calls) expect(bench.results()).toContain(data)
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
}

async function simulate(seed: number): Promise<void> {
  const chance = await compose(seed)
  const { bench, random } = chance
  const fibers = await mountAtRandom(chance)
  for (const fiber of fibers)
    if (chance.one(10)) bench.world.clock.timer(random.int(ABORT_MS_MAX), () => void fiber.dispose())
  const together = chance.one(3)
  const running: Promise<void>[] = []
  for (let i = 0; i < EACH; i++) {
    running.push(runBatch(chance))
    if (!together) await running[i]
  }
  await Promise.all(running)
  await flushMicrotasks()
  await bench.world.clock.runUntilIdle()
  expect(unsound(bench.session)).toEqual([])
  expect(bench.world.clock.pending).toBe(0)
  for (const fiber of fibers) await fiber.dispose()
  const { listeners, guards } = bench.ctx.tools.live()
  expect([...listeners.values(), guards].flat()).toEqual([])
}

// 9.5, 10.5
it('random batches end with one result per call, sound traces, and nothing left behind', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    const only = process.env['SLUICE_SEED']
    const first = only === undefined ? 1 : Number(only)
    const seeds = only === undefined ? Math.ceil(BATCHES / EACH) : 1
    for (let seed = first; seed < first + seeds; seed++)
      await simulate(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error })
      })
    await flushMicrotasks()
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
}, 3_600_000)
