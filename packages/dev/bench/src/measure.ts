/** Owns measuring: candidates take turns in one run, medians are compared as ratios. */

/** One way to do the work. `prepare` makes a fresh run; only the run is timed. */
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
  await run()
  return elapsed() / units
}

export async function measure(bench: Case): Promise<Measured> {
  const { floor, ours, rounds } = bench
  const times = { floor: [] as number[], ours: [] as number[] }
  const warm = Math.ceil(rounds / 2)
  for (let round = -warm; round < rounds; round++) {
    const [floorUs, oursUs] = [await once(floor, bench), await once(ours, bench)]
    if (round < 0) continue
    times.floor.push(floorUs)
    times.ours.push(oursUs)
  }
  await bench.close?.()
  const floorUs = median(times.floor)
  const oursUs = median(times.ours)
  const { id, what, target, note = '' } = bench
  return { id, what, floorUs, oursUs, ratio: oursUs / floorUs, target, note }
}
