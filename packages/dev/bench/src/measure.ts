/** Owns measuring: candidates take turns in one run, medians are compared as ratios. */

/** One way to do the work. `prepare` makes a fresh run; only the run is timed. One that resolves to a number has measured
 *  itself: microseconds, of a quantile for example. */
export interface Candidate {
  readonly name: string
  prepare(): Promise<() => unknown> | (() => unknown)
}

export interface Case {
  /** `T1`, `T2`, … as in the table of targets. */
  readonly id: string
  readonly what: string
  /** Work units of one run; times are per unit. */
  readonly units: number
  readonly rounds: number
  /** The least work that a correct implementation must do. */
  readonly floor: Candidate
  readonly ours: Candidate
  /** Largest ratio of ours to the floor; `undefined` when the target is set against a peer. */
  readonly target: number | undefined
  readonly note?: string
  /** `cpu`: processor time of this process, for work that waits for nothing. `wall`: elapsed time. */
  readonly clock: 'cpu' | 'wall'
  /** Frees what the case holds. */
  close?(): Promise<void>
}

export interface Measured {
  readonly id: string
  readonly what: string
  readonly floorUs: number
  readonly oursUs: number
  readonly ratio: number
  readonly target: number | undefined
  readonly note: string
}

/** Both candidates run unmeasured for so long, so that what is compared is compiled code. */
const WARM_MS = 4_000

function median(times: number[]): number {
  const sorted = times.slice().sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

function stopwatch(clock: Case['clock']): () => number {
  if (clock === 'wall') {
    const start = process.hrtime.bigint()
    return () => Number(process.hrtime.bigint() - start) / 1_000
  }
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return user + system
  }
}

/** Microseconds per unit of one run. */
async function once(candidate: Candidate, { units, clock }: Case): Promise<number> {
  const run = await candidate.prepare()
  const elapsed = stopwatch(clock)
  const own = await run()
  return typeof own === 'number' ? own : elapsed() / units
}

export async function measure(bench: Case): Promise<Measured> {
  const { floor, ours, rounds } = bench
  const times = { floor: [] as number[], ours: [] as number[] }
  const warmUntil = performance.now() + WARM_MS
  for (let round = 0; round < rounds / 2 || performance.now() < warmUntil; round++) {
    await once(floor, bench)
    await once(ours, bench)
  }
  for (let round = 0; round < rounds; round++) {
    times.floor.push(await once(floor, bench))
    times.ours.push(await once(ours, bench))
  }
  await bench.close?.()
  const floorUs = median(times.floor)
  const oursUs = median(times.ours)
  const { id, what, target, note = '' } = bench
  return { id, what, floorUs, oursUs, ratio: oursUs / floorUs, target, note }
}
