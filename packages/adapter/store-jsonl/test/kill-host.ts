/** Owns killing a host with a real disk and real processes, and what must hold when its session is opened again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import type { KnownEvent, Session, SessionEvent } from '@sluice/session'
import { expect } from 'vitest'
import { openHere } from './real-kill.ts'
import { settled, unsettled } from './turn-checks.ts'

export interface Place {
  /** The bundled program of the host. */
  readonly program: string
  readonly root: string
  readonly id: string
  readonly folder: string
}

/** What a host told before it died. */
interface Told {
  readonly written: ReadonlyMap<number, string>
  readonly acknowledged: number
}

/** What a death left, for the report of a long run. */
export interface Left {
  readonly events: number
  readonly acknowledged: number
  readonly interrupted: number
  readonly unknown: number
  /** Processes that were still there when the session was opened. */
  readonly ended: number
}

export interface Death {
  readonly life: number
  /** After the host's first sign of life. */
  readonly afterMs: number
  /** The process beside the host dies first, so that nobody ends what the host has left. */
  readonly reaper: 'dies' | 'lives'
}

/** Starts a host, kills it, opens its session here and checks everything. */
export async function killAndCheck(place: Place, death: Death): Promise<Left> {
  if (death.life === 0) await writeFile(join(place.folder, 'edited'), 'end\n')
  const told = await killed(place, death)
  const here = await openHere(place.root, place.id)
  try {
    const session = await here.open().catch((error: unknown) => {
      if ((error as { code?: string }).code !== 'SESSION_NOT_FOUND') throw error
      return undefined
    })
    if (!session) {
      expect(told.acknowledged, 'an acknowledged session is gone').toBe(-1)
      return { events: 0, acknowledged: 0, interrupted: 0, unknown: 0, ended: 0 }
    }
    expect(await processesOf(place.id), 'a process is left').toEqual([])
    checkEvents(session, told)
    await checkBodies(session, place)
    return summary(session, told)
  } finally {
    await here.leave()
  }
}

async function killed({ program, root, id, folder }: Place, { life, afterMs, reaper }: Death): Promise<Told> {
  const args = [program, root, id, String(life), folder]
  const host: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(host, 'exit')
  const written = new Map<number, string>()
  let acknowledged = -1
  let ready = () => {}
  const started = new Promise<void>((resolve) => (ready = resolve))
  const lines = createInterface({ input: host.stdout as NodeJS.ReadableStream })
  lines.on('line', (line) => {
    const [word, seq, digest] = line.split(' ')
    if (word === 'ready') ready()
    // A line that the death cut short has no whole digest.
    else if (word === 'written' && digest?.length === 64) written.set(Number(seq), digest)
    else if (word === 'acknowledged') acknowledged = Math.max(acknowledged, Number(seq))
  })
  const read = once(lines, 'close')
  await Promise.race([started, ended])
  await wait(afterMs)
  expect([host.exitCode, host.signalCode], 'the host ended by itself').toEqual([null, null])
  if (reaper === 'dies') for (const pid of await withWord('cmdline', `SLUICE_OWNER=${host.pid}/`)) kill(pid)
  host.kill('SIGKILL')
  await Promise.all([ended, read])
  return { written, acknowledged }
}

function checkEvents(session: Session, { written, acknowledged }: Told): void {
  const { events, findings } = session
  expect(findings.filter(({ kind }) => kind !== 'torn-tail')).toEqual([])
  expect(events.map(({ seq }) => seq)).toEqual([...events.keys()])
  expect(events.length, 'acknowledged events survive').toBeGreaterThan(acknowledged)
  for (const [seq, digest] of written) {
    if (seq <= acknowledged) expect(digestOf(events[seq]), `event ${seq} is as it was`).toBe(digest)
  }
  expect(unsettled(events)).toEqual([])
}

function digestOf(event: SessionEvent | undefined): string {
  return createHash('sha256').update(JSON.stringify(event)).digest('hex')
}

/** Each body left a mark: none twice, and none by a call of which the log says that it did not run. */
async function checkBodies(session: Session, { folder }: Place): Promise<void> {
  const ledger = await readFile(join(folder, 'ledger'), 'utf8').catch(() => '')
  const edited = await readFile(join(folder, 'edited'), 'utf8')
  const marks = [...ledger.split('\n').slice(0, -1), ...edited.split('\n').slice(0, -2)]
  expect(
    marks.filter((mark, index) => marks.indexOf(mark) !== index),
    'a body ran twice',
  ).toEqual([])
  const outcomes = settled(session)
  for (const mark of marks) {
    const id = mark.endsWith('-nested') ? `${mark.slice(0, -'-nested'.length)}.1` : mark
    expect(['yes', 'unknown'], `${id} ran`).toContain(outcomes.get(id)?.executed)
  }
}

/** Pids of processes that carry the name of the session. */
async function processesOf(id: string): Promise<number[]> {
  const marked = await withWord('environ', 'SLUICE_OWNER=')
  const own = await withWord('environ', id)
  return marked.filter((pid) => own.includes(pid))
}

/** Pids of processes of which one word of the command line, or one variable, begins or ends so. */
async function withWord(file: 'cmdline' | 'environ', text: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')).split('\0')
      return words.some((word) => word.startsWith(text) || word.endsWith(`/${text}`)) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

/** One that has ended meanwhile is no error. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function summary(session: Session, { acknowledged }: Told): Left {
  const events = session.events as readonly KnownEvent[]
  const resumed = events.findLast((event) => event.type === 'session/resumed')
  const repaired = events.at(-2)
  const interrupted = repaired?.type === 'session/repaired' ? repaired.data.interrupted : []
  const outcomes = settled(session)
  return {
    events: events.length,
    acknowledged: acknowledged + 1,
    interrupted: interrupted.length,
    unknown: interrupted.filter((id) => outcomes.get(id)?.executed === 'unknown').length,
    ended: resumed?.data.ended ?? 0,
  }
}
