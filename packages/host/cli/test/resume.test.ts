import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { World } from '@sluice/base'
import { CHECKPOINT_EVENTS, type SessionEvent } from '@sluice/session'
import { expect, test } from 'vitest'
import { runCli } from '../src/cli.ts'
import { place, watchedTerminal } from './harness.ts'

/** The World, with the places that were read in logs of sessions. */
function watched(world: World): { world: World; places: readonly number[] } {
  const places: number[] = []
  const open: World['disk']['open'] = async (path, options) => {
    const file = await world.disk.open(path, options)
    if (!path.endsWith('events.jsonl')) return file
    const read: typeof file.read = (into, position) => {
      places.push(position)
      return file.read(into, position)
    }
    return Object.assign(Object.create(file) as typeof file, { read })
  }
  return { world: { ...world, disk: Object.assign(Object.create(world.disk) as World['disk'], { open }) }, places }
}

const eventsOf = (out: string) =>
  out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as SessionEvent]))

// performance.md T6; session-log.md 4.1, 5.2
test('a run that goes on with a long session reads only what follows its checkpoint, and shows only what is new', async () => {
  const turns = CHECKPOINT_EVENTS / 5
  const p = await place({ steps: Array.from({ length: turns }, (_, turn) => `answer ${turn}`) })
  const arguments_ = ['--composition', p.composition, '--model', 'sim/one']
  const lines = Array.from({ length: turns }, (_, turn) => `question ${turn}`)
  const first = watchedTerminal(p.folder, { interactive: true, lines })
  expect(await p.sluice(first, 'run', ...arguments_)).toBe(0)
  const id = /session (\S+)\n/.exec(first.err)?.[1] ?? ''
  const { size } = await stat(join(p.folder, 'data', 'sluice', 'sessions', id, 'events.jsonl'))

  const { world, places } = watched(p.parts.world)
  const next = watchedTerminal(p.folder)
  const code = await runCli(['run', 'again', '--session', id, '--json', ...arguments_], next, { ...p.parts, world })
  expect(code).toBe(0)
  expect(Math.min(...places)).toBeGreaterThan(size / 2)
  const events = eventsOf(next.out)
  expect(events[0]?.type).toBe('session/resumed')
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => (events[0]?.seq ?? 0) + index))
  expect(events.find(({ type }) => type === 'turn/started')?.data).toEqual({ turn: turns + 1 })
})
