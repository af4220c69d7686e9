/** Owns what a machine does when it dies in the crash tests, and what must hold afterwards. */
import type { Session, SessionEvent, Sessions } from '@sluice/session'
import { everyCrash, keepPrefix, type SimWorld, simWorld } from '@sluice/testkit'
import { expect } from 'vitest'
import { mount, user } from './kit.ts'

/** What a run has been promised, and what it tried to write. */
export interface Told {
  acknowledged: readonly SessionEvent[]
  appended: readonly SessionEvent[]
}

/** Lives of a session with a blob, calls, and work left open in between. */
async function work(world: SimWorld, told: Told, lives: number): Promise<void> {
  for (let life = 0; life < lives; life++) {
    const { sessions } = await mount(world)
    const session = life === 0 ? await sessions.create({ cwd: '/proj', id: 's' }) : await sessions.open('s')
    told.appended = session.events
    const durable = async () => {
      const promised = session.events.slice()
      await session.durable()
      told.acknowledged = promised
    }
    await durable()
    user(session, `message of life ${life}`)
    const call = { type: 'tool-call', id: `c${life}`, name: 'probe', argumentsText: '{}' } as const
    session.append('assistant/message', { content: [call], finish: 'tool-calls', model: 'test/model' })
    await durable()
    user(session, 'x'.repeat(300))
    await session.putBlob(Buffer.from(`picture ${life}`), { mediaType: 'image/png' })
    user(session, 'after the picture')
    await durable()
    await session.close()
  }
}

export async function reopen(world: SimWorld): Promise<Session | undefined> {
  return found((await mount(world)).sessions)
}

async function found(sessions: Sessions): Promise<Session | undefined> {
  try {
    return await sessions.open('s')
  } catch (error) {
    if ((error as { code?: string }).code === 'SESSION_NOT_FOUND') return undefined
    throw error
  }
}

/** Everything that must hold of a session found after a crash. */
export async function check(world: SimWorld, told: Told): Promise<void> {
  const { sessions } = await mount(world)
  const session = await found(sessions)
  if (!session) {
    expect(told.acknowledged, 'an acknowledged session is gone').toEqual([])
    return
  }
  expect(session.writable).toBe(true)
  expect(session.events.map((event) => event.seq)).toEqual([...session.events.keys()])
  expect(session.events.slice(0, told.acknowledged.length)).toEqual(told.acknowledged)
  const rest = session.events.slice(told.acknowledged.length)
  const known = told.appended.slice(told.acknowledged.length)
  const invented = rest.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(known[index]))
  const added = invented < 0 ? [] : rest.slice(invented).map((event) => event.type)
  const repairs = ['tool/result', 'session/repaired', 'session/resumed', 'user/message']
  expect(added.filter((type) => !repairs.includes(type))).toEqual([])
  oneResultPerCall(session)
  await blobsAreThere(session)
  user(session, 'life goes on')
  await session.close()
  const again = await found(sessions)
  expect(again?.findings).toEqual([])
  expect(again?.events.slice(0, session.events.length)).toEqual(session.events)
  await again?.close()
}

function oneResultPerCall(session: Session): void {
  const calls = session.events.filter((event) => event.type === 'assistant/message')
  const results = session.events.filter((event) => event.type === 'tool/result')
  expect(results).toHaveLength(calls.length)
}

async function blobsAreThere(session: Session): Promise<void> {
  for (const event of session.events) {
    if (event.type !== 'blob/stored') continue
    const { blob } = (event as SessionEvent<'blob/stored'>).data
    expect(await session.getBlob(blob), 'a blob of the log is gone').toBeDefined()
  }
}

/** One run of the work: what it was told counts for every state that its death may leave. */
export function run(lives: number) {
  let told: Told = { acknowledged: [], appended: [] }
  return {
    make: () => {
      told = { acknowledged: [], appended: [] }
      return simWorld({ files: { '/proj/sessions': null } })
    },
    act: (world: SimWorld) => work(world, told, lives),
    told: (): Told => ({ acknowledged: [...told.acknowledged], appended: [...told.appended] }),
  }
}

/** Dies before each (or each so many) effect of the work, and again before each effect of the recovery. */
export async function dieTwice(lives: number, every = 1): Promise<void> {
  const { make, act, told } = run(lives)
  let deaths = 0
  await everyCrash({
    make,
    act,
    // A torn first effect leaves the most to do.
    states: () => (deaths++ % every === 0 ? [{ label: 'a torn first effect', keep: keepPrefix(0, 9) }] : []),
    async check(machine) {
      const promised = told()
      await everyCrash({
        make: () => machine.reboot({ keep: 'all' }),
        act: async (world) => (await reopen(world))?.close(),
        check: (world) => check(world, promised),
        states: () => (['none', 'all', 1] as const).map((keep) => ({ label: String(keep), keep })),
      })
    },
  })
}
