import type { Run } from '@sluice/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { deferred, forSeeds, interleave, probeTool, runContract, seededRandom, simWorld } from '../src/index.ts'

describe('a contract suite', () => {
  const registered: { title: string; body: () => Promise<void> }[] = []
  const log: string[] = []
  const runner = {
    it: (title: string, body: () => Promise<void>) => void registered.push({ title, body }),
    describe(title: string, body: () => void) {
      log.push(`suite ${title}`)
      body()
    },
  }
  let made = 0
  const options = { title: 'numbers', dispose: (subject: number) => void log.push(`drop ${subject}`) }
  const cases = [
    { title: 'passes', run: (subject: number) => void log.push(`run ${subject}`) },
    {
      title: 'fails',
      run() {
        throw new Error('not so')
      },
    },
  ]

  it('gives each case a subject of its own, and drops it whether the case passes or fails', async () => {
    runContract(cases, () => Promise.resolve(++made), runner, options)
    expect(registered.map((each) => each.title)).toEqual(['passes', 'fails'])
    await registered[0]?.body()
    await expect(registered[1]?.body()).rejects.toThrow('not so')
    expect(log).toEqual(['suite numbers', 'run 1', 'drop 1', 'drop 2'])
  })
})

describe('the probe tool', () => {
  const run = {} as Run

  it('counts its runs, those that overlap too', async () => {
    const gate = deferred()
    const probe = probeTool({ body: () => gate.promise })
    const runs = [probe.definition.execute({ n: 1 }, run), probe.definition.execute({ n: 2 }, run)]
    expect([probe.runs, probe.active]).toEqual([2, 2])
    gate.resolve()
    await Promise.all(runs)
    expect([probe.active, probe.activeMax]).toEqual([0, 2])
    expect(probe.args).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('is a tool like any other, named and annotated as the test wants', async () => {
    const probe = probeTool({ name: 'peek', annotations: { readOnly: true } })
    expect(probe.definition).toMatchObject({ name: 'peek', annotations: { readOnly: true } })
    expect(await probe.definition.execute({}, run)).toBe('probed')
    const failing = probeTool({ body: () => Promise.reject(new Error('no')) })
    await expect(failing.definition.execute({}, run)).rejects.toThrow('no')
    expect(failing.active).toBe(0)
  })
})

describe('seeds', () => {
  afterEach(() => {
    delete process.env['SLUICE_SEED']
    delete process.env['SLUICE_SEEDS_FACTOR']
  })

  async function seedsOf(seeds: number): Promise<number[]> {
    const seen: number[] = []
    await forSeeds({ seeds }, async (_, seed) => void seen.push(seed))
    return seen
  }

  it('run one after another, and a failure names its seed', async () => {
    expect(await seedsOf(3)).toEqual([1, 2, 3])
    const body = async (_: unknown, seed: number) => {
      if (seed === 5) throw new Error('lost')
    }
    await expect(forSeeds({ seeds: 9 }, body)).rejects.toThrow('seed 5: lost')
  })

  it('are more in a long run, and only one when one is asked for', async () => {
    process.env['SLUICE_SEEDS_FACTOR'] = '3'
    expect(await seedsOf(2)).toHaveLength(6)
    process.env['SLUICE_SEED'] = '42'
    expect(await seedsOf(2)).toEqual([42])
  })

  it('put concurrent work in different orders, the same for the same seed', async () => {
    const orderFor = async (seed: number) => {
      const { disk } = simWorld({ seed, shuffleTurns: 4, files: { '/proj/a': '' } })
      const order: number[] = []
      const read = (i: number) => disk.stat('/proj/a').then(() => void order.push(i))
      await Promise.all(Array.from({ length: 6 }, (_, i) => read(i)))
      return order.join()
    }
    const orders = await Promise.all([1, 2, 3, 4, 1].map(orderFor))
    expect(orders[4]).toBe(orders[0])
    expect(new Set(orders).size).toBeGreaterThan(2)
  })

  it('start tasks in different orders', async () => {
    const orderFor = async (seed: number) => {
      const order: number[] = []
      const tasks = Array.from({ length: 6 }, (_, i) => () => order.push(i))
      expect(await interleave(seededRandom(seed), tasks)).toHaveLength(6)
      return order.join()
    }
    const orders = await Promise.all([1, 2, 3].map(orderFor))
    expect(new Set(orders).size).toBeGreaterThan(1)
  })
})

describe('seeded randomness', () => {
  it('is spread evenly enough and stays in its range', () => {
    const random = seededRandom(3)
    const counts = [0, 0, 0, 0]
    for (let i = 0; i < 4000; i++) {
      const int = random.int(4)
      counts[int] = (counts[int] ?? 0) + 1
    }
    expect(counts).toHaveLength(4)
    for (const count of counts) expect(count).toBeGreaterThan(900)
    expect(new Set(random.bytes(4000)).size).toBe(256)
    expect(() => random.pick([])).toThrow('nothing to pick from')
  })

  it('is not shifted by another consumer that has forked', () => {
    const [a, b] = [seededRandom(3), seededRandom(3)]
    const [forkOfA, forkOfB] = [a.fork(), b.fork()]
    forkOfA.bytes(100)
    expect(a.float()).toBe(b.float())
    expect(forkOfA.float()).not.toBe(forkOfB.float())
  })
})
