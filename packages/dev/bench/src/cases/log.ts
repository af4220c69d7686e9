/** Owns T4 to T7: durable appends against fdatasync, resume against itself, replay against `JSON.parse` per line. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as agent from '@sluice/agent'
import * as files from '@sluice/fs'
import * as llm from '@sluice/llm'
import * as session from '@sluice/session'
import type { Session, SessionEvent } from '@sluice/session'
import * as store from '@sluice/store-jsonl'
import * as tools from '@sluice/tools'
import * as world from '@sluice/world-node'
import { Context, type Plugin } from 'cordis'
import type { Candidate, Case } from '../measure.ts'
import { eachSynced, GroupCommit } from './bare-log.ts'

const WAITERS = 64
const ALONE = 200
const TOGETHER = 6_400

const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.once('exit', () => rmSync(dir, { recursive: true, force: true }))

/** All packages that keep folds of a session in an ordinary composition. */
async function mounted(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(world)
  await ctx.plugin(store as Plugin, { dir } as never)
  for (const plugin of [session, llm, files]) await ctx.plugin(plugin as Plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(agent as Plugin)
  return ctx
}

const text =
  'const value = await ctx.tools.execute({ callId, name, arguments }); // "quoted" text\n\tand a tab, é and 漢字 '
const card = { v: 1, kind: 'generic', title: 'read' } as const

function said(n: number) {
  const content = [{ type: 'text', text: text.repeat(2) + n }] as const
  return { content, source: 'bench' }
}

function say(log: Session, n: number): SessionEvent {
  return log.append('user/message', said(n))
}

let host: Promise<Context> | undefined
let logs = 0

/** A log that is on disk, in a host that runs. */
async function freshLog(): Promise<Session> {
  const { sessions } = await (host ??= mounted())
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

/** A closed session of so many events: turns of one call, compacted from time to time as long sessions are. */
async function longSession(id: string, events: number): Promise<void> {
  const { sessions } = await mounted()
  const log = await sessions.create({ cwd: dir, id })
  for (let turn = 1; log.events.length < events; turn++) {
    const callId = `call_${turn}`
    log.append('turn/started', { turn })
    say(log, turn)
    const call = { type: 'tool-call', id: callId, name: 'read', argumentsText: '{"path":"src/a.ts"}' } as const
    log.append('assistant/message', { content: [call], finish: 'tool-calls', model: 'bench/m' })
    log.append('tool/call', { callId, tool: 'read', argumentsText: '{}', readOnly: true, card, batch: turn, index: 0 })
    const outcome = { tag: 'succeeded', executed: 'yes' } as const
    const content = [{ type: 'text', text: text.repeat(4) + turn }] as const
    log.append('tool/result', { callId, tool: 'read', outcome, content, card })
    log.append('assistant/message', { content: [{ type: 'text', text }], finish: 'stop', model: 'bench/m' })
    if (turn % 100 === 0) log.append('compaction/done', { upTo: log.events.length - 1, summary: text })
    log.append('turn/ended', { turn, reason: 'completed' })
    if (turn % 500 === 0) await log.durable()
  }
  await log.close()
}

const made = new Map<string, Promise<void>>()
function make(events: number): Promise<string> {
  const id = `long-${events}`
  const making = made.get(id) ?? longSession(id, events)
  made.set(id, making)
  return making.then(() => id)
}

/** Opens to write, up to the history of the next request, in a host that runs. */
function resume(events: number): Candidate {
  return {
    name: `resume of ${events} events`,
    async prepare() {
      const id = await make(events)
      const { sessions } = await (host ??= mounted())
      return async () => {
        const start = performance.now()
        const log = await sessions.open(id)
        log.messages()
        const time = (performance.now() - start) * 1_000
        if (log.firstSeq < events / 2) throw new Error('it was not resumed from a checkpoint')
        await log.close()
        return time
      }
    },
  }
}

/** Both end as many turns after a compaction, and after a checkpoint: what the model still reads does not grow with a log. */
const LONG = 102_045
const SHORT = 1_101

function parsedLines(): Candidate {
  return {
    name: 'JSON.parse per line',
    async prepare() {
      const path = join(dir, await make(LONG), 'events.jsonl')
      return () => {
        const bytes = readFileSync(path)
        const values: unknown[] = []
        for (let at = 0; at < bytes.length; ) {
          const end = bytes.indexOf(10, at)
          values.push(JSON.parse(bytes.toString('utf8', at, end)))
          at = end + 1
        }
        if (values.length < LONG) throw new Error('lines are missing')
      }
    },
  }
}

const replay: Candidate = {
  name: 'open and fold',
  async prepare() {
    const id = await make(LONG)
    const { sessions } = await (host ??= mounted())
    return async () => {
      const log = await sessions.open(id, 'read')
      log.messages()
      log.fold(tools.usedCallIds)
      if (log.events.length < LONG) throw new Error('events are missing')
    }
  },
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

export const logCases: readonly Case[] = [
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
  {
    id: 'T6',
    what: `resume of ${LONG} events, against resume of ${SHORT}`,
    units: 1,
    rounds: 25,
    clock: 'wall',
    floor: resume(SHORT),
    ours: resume(LONG),
    target: 1.3,
    note: 'and at most 10 ms',
  },
  {
    id: 'T7',
    what: `replay of ${LONG} events with history and folds, against JSON.parse per line`,
    units: LONG,
    rounds: 7,
    clock: 'wall',
    floor: parsedLines(),
    ours: replay,
    target: 1.3,
  },
]
