/** Owns sessions over the JSONL store on a simulated machine, for the tests of this package. */
import type { World } from '@sluice/base'
import * as sessionPlugin from '@sluice/session'
import type { Session, SessionEvent, Sessions } from '@sluice/session'
import { type SimWorld, type SimWorldOptions, simWorld, turn } from '@sluice/testkit'
import { Context } from 'cordis'
import { jsonlStore } from '../src/index.ts'

export const DIR = '/proj/sessions'
export const LOG = `${DIR}/s/events.jsonl`

/** Mounts the session service in a process of its own. */
export async function mount(world: World): Promise<{ ctx: Context; sessions: Sessions; unload: () => Promise<void> }> {
  const ctx = new Context()
  ctx.provide('world', world)
  ctx.provide('sessionStore', jsonlStore(world, DIR))
  const fiber = await ctx.plugin(sessionPlugin)
  return { ctx, sessions: ctx.sessions, unload: () => fiber.dispose() }
}

/** The same machine seen by a process with another pid. */
export function otherProcess(world: SimWorld, pid: number): SimWorld {
  return { ...world, host: { ...world.host, pid } }
}

export function user(session: Session, text: string): SessionEvent<'user/message'> {
  return session.append('user/message', { content: [{ type: 'text', text }], source: 'user' })
}

/** A machine with a closed session `s` of one start and `count` messages. */
export async function machineWith(count: number, options: SimWorldOptions = {}): Promise<SimWorld> {
  const world = simWorld(options)
  const { sessions } = await mount(world)
  const session = await sessions.create({ cwd: '/proj', id: 's' })
  for (let i = 1; i <= count; i++) user(session, `message ${i}`)
  await session.close()
  return world
}

export function linesOf(world: SimWorld): string[] {
  return (world.disk.text(LOG) ?? '').split('\n').slice(0, -1)
}

/** The same machine with another log of session `s`. */
export function withLog(world: SimWorld, text: string): SimWorld {
  world.disk.plant({ [LOG]: { content: text, mode: 0o600 } })
  return world
}

export function texts(session: Session): string[] {
  return session.events.flatMap((event) => {
    if (event.type !== 'user/message') return []
    const [part] = (event as SessionEvent<'user/message'>).data.content
    return part?.type === 'text' ? [part.text] : []
  })
}

export function filesOf(world: SimWorld): string[] {
  return Object.keys(world.disk.tree(DIR)).map((path) => path.slice(DIR.length + 1))
}

/** Lets everything that has been started come to its end. */
export async function quiet(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn()
}

/** The same World, with a count of the bytes of each read, of one file or of all. */
export function counted(world: World, only?: string): { world: World; reads: readonly number[] } {
  const reads: number[] = []
  const open: World['disk']['open'] = async (path, options) => {
    const file = await world.disk.open(path, options)
    const read: typeof file.read = async (into, position) => {
      const count = await file.read(into, position)
      if (only === undefined || path === only) reads.push(count)
      return count
    }
    return Object.assign(Object.create(file) as typeof file, { read })
  }
  const disk = Object.assign(Object.create(world.disk) as World['disk'], { open })
  return { world: { ...world, disk }, reads }
}
