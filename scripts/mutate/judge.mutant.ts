/** Owns the judgement of mutants: which tests reach each, and whether one of them fails. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { it } from 'vitest'
import { collected, forget, play } from './shim.mjs'

interface Collected {
  readonly title: string
  readonly body: () => unknown
}

interface Job {
  readonly tests: readonly string[]
  readonly mutants: readonly number[]
  readonly results: string
  /** What each test reaches and how long it takes, once that is known. */
  readonly reach: string
  readonly beat: string
}

/** A test that takes longer has failed; a mutant that costs more in all has survived. */
const TEST_MS = 8_000
const MUTANT_MS = 45_000

const job = JSON.parse(process.env['MUTATE_JOB'] ?? '{}') as Job
let active = -1
let reached: Set<number> | undefined
Object.assign(globalThis, {
  __mutant(id: number) {
    reached?.add(id)
    return id === active
  },
})

async function passes(test: Collected, ms: number): Promise<boolean> {
  let stray = false
  const note = () => void (stray = true)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)))
    const end = await Promise.race([(play as (body: Collected['body']) => Promise<void>)(test.body), late])
    await new Promise((resolve) => setImmediate(resolve))
    return end !== 'late' && !stray
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  }
}

type Reach = [title: string, ms: number, ids: number[]]

interface Known extends Collected {
  readonly ms: number
  readonly reaches: Set<number>
}

async function baseline(): Promise<Known[]> {
  const tests = collected as Collected[]
  if (!existsSync(job.reach)) {
    const rows: Reach[] = []
    for (const test of tests) {
      writeFileSync(job.beat, `baseline ${test.title}`)
      const reaches = (reached = new Set<number>())
      const startedAt = performance.now()
      if (!(await passes(test, 120_000))) throw new Error(`without a mutant this fails: ${test.title}`)
      rows.push([test.title, performance.now() - startedAt, [...reaches]])
    }
    reached = undefined
    writeFileSync(job.reach, JSON.stringify(rows))
  }
  const rows = JSON.parse(readFileSync(job.reach, 'utf8')) as Reach[]
  const known = rows.flatMap(([title, ms, ids]) => {
    const test = tests.find((one) => one.title === title)
    return test ? [{ ...test, ms, reaches: new Set(ids) }] : []
  })
  return known.sort((a, b) => a.ms - b.ms)
}

interface Judgement {
  readonly verdict: string
  readonly by?: Known
}

async function judge(id: number, known: readonly Known[]): Promise<Judgement> {
  const startedAt = performance.now()
  let asked = 0
  active = id
  try {
    for (const test of known) {
      if (!test.reaches.has(id)) continue
      asked++
      if (!(await passes(test, Math.max(TEST_MS, 5 * test.ms)))) return { verdict: `killed by ${test.title}`, by: test }
      if (performance.now() - startedAt > MUTANT_MS)
        return { verdict: `survived ${asked} tests, then the time was over` }
    }
    return { verdict: asked === 0 ? 'never reached' : `survived ${asked} tests` }
  } finally {
    active = -1
  }
}

;(forget as () => void)()
it('judges mutants', { timeout: 86_400_000 }, async () => {
  for (const file of job.tests) await import(/* @vite-ignore */ file)
  const known = await baseline()
  for (const [index, id] of job.mutants.entries()) {
    writeFileSync(job.beat, `mutant ${id}`)
    const { verdict, by } = await judge(id, known)
    // A test that now fails without a mutant too was spoiled by this one or by one before: only of the first that is certain.
    const spoiled = by !== undefined && !(await passes(by, Math.max(TEST_MS, 5 * by.ms)))
    if (!spoiled || index === 0) appendFileSync(job.results, `${JSON.stringify({ id, verdict })}\n`)
    if (!spoiled) continue
    writeFileSync(job.beat, 'spoiled')
    return
  }
})
