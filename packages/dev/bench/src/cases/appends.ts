/** Owns T4 and T5: durable appends against fdatasync. */
import { join } from 'node:path'
import type { Session } from '@sluice/session'
import type { Candidate, Case } from '../measure.ts'
import { eachSynced, GroupCommit } from './bare-log.ts'
import { dir, host, said, say } from './log-host.ts'

const WAITERS = 64
const ALONE = 200
const TOGETHER = 6_400

let logs = 0

/** A log that is on disk, in a host that runs. */
async function freshLog(): Promise<Session> {
  const { sessions } = await host()
  const log = await sessions.create({ cwd: dir, id: `append-${++logs}` })
  await log.durable()
  return log
}

function quantile(times: readonly number[], share: number): number {
  const sorted = Float64Array.from(times).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Microseconds of each append that is waited for, of so many waiters that each wait for their own. */
async function durations(log: Session, waiters: number, appends: number): Promise<number[]> {
  const times: number[] = []
  let left = appends
  const work = async () => {
    while (left-- > 0) {
      const start = performance.now()
      const { seq } = say(log, left)
      await log.durable(seq)
      times.push((performance.now() - start) * 1_000)
    }
  }
  await Promise.all(Array.from({ length: waiters }, work))
  return times
}

const fdatasync = (of: (times: readonly number[]) => number): Candidate => ({
  name: 'write and fdatasync each',
  prepare: () => () => of(eachSynced(join(dir, `floor-${++logs}`), ALONE, said)),
})

/** The same waiters over the least that shares syncs. */
const groupCommit: Candidate = {
  name: 'a bare group commit',
  prepare() {
    const log = new GroupCommit(join(dir, `floor-${++logs}`))
    let left = TOGETHER
    const work = async () => {
      while (left-- > 0) await log.append(said(left))
    }
    return async () => {
      await Promise.all(Array.from({ length: WAITERS }, work))
      log.close()
    }
  },
}

const mean = (times: readonly number[]) => times.reduce((sum, time) => sum + time, 0) / times.length

/** The times of the last run with many waiters: of one run both quantiles. */
let together: readonly number[] = []

async function runTogether(): Promise<void> {
  const log = await freshLog()
  together = await durations(log, WAITERS, TOGETHER)
  await log.close()
}

const shared: Candidate = {
  name: 'sluice',
  async prepare() {
    const log = await freshLog()
    return async () => {
      await durations(log, WAITERS, TOGETHER)
      // Not waited for: closing is not measured.
      void log.close()
    }
  },
}

export const appendCases: readonly Case[] = [
  {
    id: 'T4',
    what: `durable appends of ${WAITERS} waiters, each against one fdatasync`,
    units: TOGETHER,
    rounds: 9,
    clock: 'wall',
    floor: fdatasync(mean),
    ours: shared,
    target: 1 / 20,
  },
  {
    id: 'T4+',
    what: 'the same, against JSON text, write and fdatasync alone, shared by as many',
    units: TOGETHER,
    rounds: 9,
    clock: 'wall',
    floor: groupCommit,
    ours: shared,
    target: undefined,
    note: 'how far from the least work',
  },
  {
    id: 'T4-',
    what: 'the slowest hundredth of them, against their median',
    units: 1,
    rounds: 9,
    clock: 'wall',
    floor: {
      name: 'p50',
      async prepare() {
        await runTogether()
        return () => quantile(together, 0.5)
      },
    },
    ours: { name: 'p99', prepare: () => () => quantile(together, 0.99) },
    target: 5,
  },
  {
    id: 'T5',
    what: 'a durable append of one waiter, against one fdatasync, medians',
    units: 1,
    rounds: 15,
    clock: 'wall',
    floor: fdatasync((times) => quantile(times, 0.5)),
    ours: {
      name: 'sluice',
      async prepare() {
        const log = await freshLog()
        return async () => {
          const times = await durations(log, 1, ALONE)
          void log.close()
          return quantile(times, 0.5)
        }
      },
    },
    target: 1.3,
  },
]
