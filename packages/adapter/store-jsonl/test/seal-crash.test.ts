import type { SessionLog } from '@sluice/session'
import { everyCrash, type SimWorld } from '@sluice/testkit'
import { expect, test } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, machineWith } from './kit.ts'

async function say(log: SessionLog, from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq++) log.write({ seq, at: 1, type: 'user/message', data: { seq } })
  await log.durable(to)
}

/** Each life appends, keeps a checkpoint whose state is the number of events, appends more and closes. */
async function live(world: SimWorld, lives: number): Promise<void> {
  for (let life = 0; life < lives; life++) {
    const { log, events, checkpoint } = await jsonlStore(world, DIR).open('s', 'write', { accepts: () => true })
    const last = events.at(-1)?.seq ?? checkpoint?.seq ?? -1
    await say(log, last + 1, last + 2)
    const kept = log.keepCheckpoint?.({ seq: last + 2, state: last + 3 })
    // It may fail before it is waited for.
    kept?.catch(() => {})
    await say(log, last + 3, last + 4)
    await kept
    await log.close()
  }
}

// session-log.md 4.1, 4.2, 6.1. Two lives are the fewest of which one resumes from the checkpoint of another.
test('whenever the machine dies, a checkpoint stands for exactly what came before it, and a list names the last event', async () => {
  let resumed = 0
  const planted = await machineWith(0)
  const states = await everyCrash({
    make: () => planted.reboot({ keep: 'all' }),
    act: (world) => live(world, 2),
    async check(world) {
      const store = jsonlStore(world, DIR)
      const whole: number[] = []
      expect(
        await store.scan('s', ({ seq }) => whole.push(seq)).then((all) => all.filter((f) => f.kind !== 'torn-tail')),
      ).toEqual([])
      const [summary] = await store.list()
      expect(summary?.last?.seq).toBe(whole.at(-1))
      const { log, events, checkpoint } = await store.open('s', 'write', { accepts: () => true })
      if (checkpoint) resumed++
      expect(checkpoint?.state).toBe(checkpoint && checkpoint.seq + 1)
      expect([...whole.slice(0, (checkpoint?.seq ?? -1) + 1), ...events.map(({ seq }) => seq)]).toEqual(whole)
      await log.close()
      await live(world, 1)
      expect(await store.scan('s', () => {})).toEqual([])
    },
  })
  expect(states).toBeGreaterThan(100)
  expect(resumed).toBeGreaterThan(10)
})
