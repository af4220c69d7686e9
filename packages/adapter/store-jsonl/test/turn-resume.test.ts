import type { KnownEvent, SessionEvent } from '@sluice/session'
import { expect, test } from 'vitest'
import { EDITED, everything, type Host, host, machine, nothingTold } from './turn-machine.ts'

/** Enough for a checkpoint at the end of the last but few. */
const TURNS = 30

/** A machine whose session `s` has some turns behind it and a checkpoint. */
async function machineWithTurns() {
  const world = machine()
  const first = await host(world, nothingTold(), Array.from({ length: TURNS }, () => everything).flat())
  for (let turn = 0; turn < TURNS; turn++) await first.turn()
  await first.close()
  return world
}

function ofType<T extends KnownEvent['type']>({ ctx }: Host, type: T): SessionEvent<T>[] {
  const events = (ctx.sessions.get('s')?.events ?? []) as readonly SessionEvent[]
  return events.filter((event): event is SessionEvent<T> => event.type === type)
}

// session-log.md 5.2; pipeline.md 2.6
test('an agent goes on from a checkpoint as it does from the whole log', async () => {
  const world = await machineWithTurns()
  const next = await host(world, nothingTold(), everything)
  const session = await next.ctx.sessions.open('s')
  expect(session.firstSeq).toBeGreaterThan(1_000)
  await next.turn()
  expect(ofType(next, 'turn/started').at(-1)?.data).toEqual({ turn: TURNS + 1 })
  // The prompt and the tools are those of the last request.
  expect(ofType(next, 'request/changed')).toEqual([])
  // The model used the ids of the first turn again.
  expect(ofType(next, 'assistant/message').at(-2)?.data.originalIds).toEqual({ 0: 'c1', 1: 'c2', 2: 'c3', 3: 'c4' })
  const results = ofType(next, 'tool/result').slice(-4)
  expect(results.map(({ data }) => data.outcome.tag)).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded'])
  expect(ofType(next, 'tool/call').at(-1)?.data.batch).toBe(TURNS + 1)
  await next.close()
})

test('a change made before the checkpoint can be taken back after it', async () => {
  const world = await machineWithTurns()
  const next = await host(world, nothingTold(), [])
  const whole = await next.ctx.sessions.open('s', 'read')
  const changes = whole.events.filter((event) => event.type === 'fs/changed') as SessionEvent<'fs/changed'>[]
  const last = changes.findLast(({ data }) => data.path === EDITED)?.data
  await whole.close()
  const session = await next.ctx.sessions.open('s')
  expect(session.firstSeq).toBeGreaterThan(1_000)
  await next.ctx.fs.undo(last?.callId ?? '', { session, call: { id: 'undoing', tool: 'test' } })
  expect(world.disk.text(EDITED)).toBe(`${'line\n'.repeat(TURNS - 1)}end\n`)
  await next.close()
})
