/** Owns T6 and T7: resume against itself, replay against `JSON.parse` per line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { usedCallIds } from '@sluice/tools'
import type { Candidate, Case } from '../measure.ts'
import { dir, host, mounted, say, text } from './log-host.ts'

const card = { v: 1, kind: 'generic', title: 'read' } as const

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
      const { sessions } = await host()
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
    const { sessions } = await host()
    return async () => {
      const log = await sessions.open(id, 'read')
      log.messages()
      log.fold(usedCallIds)
      if (log.events.length < LONG) throw new Error('events are missing')
    }
  },
}

export const longSessionCases: readonly Case[] = [
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
