/** Owns what must hold of a machine after it died in a turn: of the log that is found, and of the life that goes on. */
import { firstBadStep } from '@sluice/pipeline'
import type { KnownEvent, Outcome, Session, SessionEvent } from '@sluice/session'
import { assertPaired, type SimWorld } from '@sluice/testkit'
import { callTable, traceOf } from '@sluice/tools'
import { expect } from 'vitest'
import { jsonlStore } from '../src/index.ts'
import { DIR, filesOf } from './kit.ts'
import { EDITED, goingOn, host, NESTED, nothingTold, type Told } from './turn-machine.ts'

/** Opens the session as the next host does, looks at it, and plays another turn in it. */
export async function checkTurn(world: SimWorld, told: Told): Promise<void> {
  const later = nothingTold()
  const found = [linesOf(world, EDITED), linesOf(world, NESTED)]
  const next = await host(world, later, goingOn)
  const session = await next.ctx.sessions.open('s').catch((error: unknown) => {
    if ((error as { code?: string }).code !== 'SESSION_NOT_FOUND') throw error
    expect(told.acknowledged, 'an acknowledged session is gone').toBe(0)
    return undefined
  })
  const outcomes = session ? settled(session) : new Map<string, Outcome>()
  if (session) {
    checkLog(session, told)
    nothingTemporary(world)
    for (const id of told.ran) if (outcomes.has(id)) expect(outcomes.get(id)?.executed, `${id} ran`).not.toBe('no')
    if (found[0] === 2) expect(outcomes.get('c2')?.executed, 'the edit was done').not.toBe('no')
    if (found[1] === 2) expect(outcomes.get('c3.1')?.executed, 'the nested edit was done').not.toBe('no')
    if (outcomes.get('c2')?.tag === 'succeeded') expect(found[0], 'the edit is on disk').toBe(2)
    if (outcomes.get('c3')?.tag === 'succeeded') expect(found[1], 'the nested edit is on disk').toBe(2)
  }
  expect(
    found.every((lines) => lines === 1 || lines === 2),
    'an edit is whole and was made once',
  ).toBe(true)
  await next.turn()
  // A call that the log knows is never run again: the model has to make a new one.
  expect(later.ran.filter((id) => outcomes.has(id))).toEqual([])
  expect([linesOf(world, EDITED), linesOf(world, NESTED)]).toEqual(found.map((lines) => lines + 1))
  await next.close()
  await checkEnd(world, later)
}

/** Lines of an edited file: one more for each edit. */
function linesOf(world: SimWorld, path: string): number {
  const text = world.disk.text(path) ?? ''
  expect(text).toMatch(/^(line\n)*end\n$/)
  return text.split('\n').length - 1
}

/** Everything that was acknowledged is there in order, nothing is invented, and nothing is left open. */
function checkLog(session: Session, told: Told): void {
  const { events } = session
  expect(events.map(({ seq }) => seq)).toEqual([...events.keys()])
  const { appended, acknowledged } = told
  const known = events.findIndex((event, seq) => JSON.stringify(event) !== JSON.stringify(appended[seq]))
  expect(known < 0 ? events.length : known, 'acknowledged events survive').toBeGreaterThanOrEqual(acknowledged)
  const added = known < 0 ? [] : events.slice(known).map(({ type }) => type)
  expect(added.filter((type) => !repairs.includes(type))).toEqual([])
  expect(unsettled(events)).toEqual([])
  assertPaired(session.messages())
}

const repairs = [
  'hook/result',
  'tool/result',
  'tool/code-dispatch',
  'approval/decided',
  'user/message',
  'step/ended',
  'turn/ended',
  'session/repaired',
  'session/resumed',
]

export function settled(session: Session): Map<string, Outcome> {
  return new Map(
    (session.events as readonly KnownEvent[]).flatMap(({ type, data }) => {
      if (type === 'tool/result') return [[data.callId, data.outcome] as const]
      return type === 'tool/code-dispatch' && data.result ? [[data.callId, data.result.outcome] as const] : []
    }),
  )
}

/** What is open at the end, answered twice, or took a step that the table does not have, in words. */
export function unsettled(events: readonly SessionEvent[]): string[] {
  const problems: string[] = []
  const open = new Set<string>()
  const begin = (what: string) => {
    if (open.has(what)) problems.push(`${what} begins twice`)
    open.add(what)
  }
  const end = (what: string) => {
    if (!open.delete(what)) problems.push(`${what} ends without having begun, or twice`)
  }
  const walked = (trace: ReturnType<typeof traceOf>, id: string) => {
    const bad = trace && firstBadStep(callTable, trace)
    if (bad) problems.push(`${id}: ${bad.problem}`)
  }
  for (const event of events as readonly KnownEvent[]) {
    if (event.type === 'turn/started') begin(`turn ${event.data.turn}`)
    else if (event.type === 'turn/ended') end(`turn ${event.data.turn}`)
    else if (event.type === 'step/started') begin(`step ${event.data.turn}.${event.data.step}`)
    else if (event.type === 'step/ended') end(`step ${event.data.turn}.${event.data.step}`)
    else if (event.type === 'assistant/message') {
      for (const part of event.data.content) if (part.type === 'tool-call') begin(`call ${part.id}`)
    } else if (event.type === 'tool/result') {
      end(`call ${event.data.callId}`)
      walked(traceOf(event.data), event.data.callId)
    } else if (event.type === 'tool/code-dispatch') {
      const { callId, phase, result } = event.data
      if (phase === 'start') begin(`call ${callId}`)
      else end(`call ${callId}`)
      if (result) walked(traceOf(result), callId)
    } else if (event.type === 'approval/asked') begin(`question ${event.data.callId}`)
    else if (event.type === 'approval/decided') end(`question ${event.data.callId}`)
    else if (event.type === 'hook/invoked') begin(`hook ${event.seq}`)
    else if (event.type === 'hook/result') end(`hook ${event.cause}`)
  }
  return [...problems, ...open]
}

/** The life that went on is on disk as well, and nothing temporary is. */
async function checkEnd(world: SimWorld, later: Told): Promise<void> {
  const events: SessionEvent[] = []
  expect(await jsonlStore(world, DIR).scan('s', (event) => events.push(event))).toEqual([])
  const before = events.length - later.appended.filter(Boolean).length
  expect(JSON.stringify(events.slice(before))).toBe(JSON.stringify(later.appended.slice(before)))
  expect(unsettled(events)).toEqual([])
  nothingTemporary(world)
  expect(Object.keys(world.disk.tree('/proj')).filter((path) => path.includes('.sluice-'))).toEqual([])
  expect(world.disk.text(`${DIR}/s/lock`)).toBeUndefined()
}

function nothingTemporary(world: SimWorld): void {
  const kept = /^s($|\/(events\.jsonl|lock|blobs(\/[0-9a-f]{64})?|index|cut-\d+-[0-9a-f]{8}\.bin)$)/
  expect(filesOf(world).filter((path) => !kept.test(path))).toEqual([])
}
