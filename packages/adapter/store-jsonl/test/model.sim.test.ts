import type { Session, SessionEvent, Sessions } from '@sluice/session'
import { type SimWorld, simWorld } from '@sluice/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mount, user } from './kit.ts'

/** What the session must hold: everything acknowledged, then a beginning of what was appended after it. */
class Model {
  world: SimWorld = simWorld({ files: { '/proj/sessions': null } })
  sessions: Sessions | undefined
  session: Session | undefined
  acknowledged: SessionEvent[] = []
  appended: SessionEvent[] = []
  turns = 0

  async live(): Promise<Session> {
    this.sessions ??= (await mount(this.world)).sessions
    if (this.session) return this.session
    const session = await this.opened(this.sessions)
    this.check(session)
    this.session = session
    this.acknowledged = []
    this.appended = session.events.slice()
    return session
  }

  /** Each failure that hits the opening is told, and the next try finds everything; there are only so many. */
  private opened(sessions: Sessions): Promise<Session> {
    return sessions.open('s').catch((error: unknown) => {
      const { code = '' } = error as { code?: string }
      if (code.startsWith('STORE_')) return this.opened(sessions)
      if (code !== 'SESSION_NOT_FOUND') throw error
      expect(this.acknowledged).toEqual([])
      return sessions.create({ cwd: '/proj', id: 's' })
    })
  }

  /** What was not acknowledged may be gone from some event on; what follows is repair. */
  private check(session: Session): void {
    expect(session.findings.filter((finding) => finding.kind !== 'torn-tail')).toEqual([])
    expect(session.events.map((event) => event.seq)).toEqual([...session.events.keys()])
    expect(session.events.slice(0, this.acknowledged.length)).toEqual(this.acknowledged)
    const same = session.events.findIndex((event, seq) => JSON.stringify(event) !== JSON.stringify(this.appended[seq]))
    const added = same < 0 ? [] : session.events.slice(same).map((event) => event.type)
    const repairs = ['session/started', 'tool/result', 'turn/ended', 'session/repaired', 'session/resumed']
    expect(added.filter((type) => !repairs.includes(type))).toEqual([])
  }

  append(event: SessionEvent): void {
    this.appended.push(event)
  }
}

type Step = (model: Model) => Promise<void>

const say =
  (length: number): Step =>
  async (model) => {
    const session = await model.live()
    model.append(user(session, 'x'.repeat(length)))
  }

const call: Step = async (model) => {
  const session = await model.live()
  const id = `c${session.events.length}`
  const part = { type: 'tool-call', id, name: 'probe', argumentsText: '{}' } as const
  model.append(session.append('assistant/message', { content: [part], finish: 'tool-calls', model: 'm' }))
}

const turn: Step = async (model) => {
  const session = await model.live()
  model.append(session.append('turn/started', { turn: ++model.turns }))
  model.append(session.append('turn/ended', { turn: model.turns, reason: 'completed' }))
}

const durable: Step = async (model) => {
  const session = await model.live()
  const promised = session.events.slice()
  await session.durable().then(
    () => void (model.acknowledged = promised),
    () => {},
  )
}

const failNext = (op: 'write' | 'datasync' | 'sync' | 'truncate'): Step => {
  return async (model) => model.world.disk.failNext(op, 'EIO', { partialBytes: 5 })
}

const close: Step = async (model) => {
  const { session } = model
  if (!session) return
  const promised = session.events.slice()
  model.session = undefined
  await session.close().then(
    () => void (model.acknowledged = promised),
    () => {},
  )
}

const crash =
  (kept: number): Step =>
  async (model) => {
    model.world = model.world.reboot({ keep: kept })
    model.sessions = undefined
    model.session = undefined
  }

const fork: Step = async (model) => {
  const session = await model.live()
  const before = session.events.slice()
  const child = await model.sessions?.fork('s').catch((error: unknown) => {
    expect((error as { code?: string }).code).toMatch(/SESSION_FORK_REFUSED|SESSION_NOT_FOUND/)
    return undefined
  })
  expect(session.events).toEqual(before)
  await child?.close().catch(() => {})
}

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 2_000 }).map(say) },
    { weight: 2, arbitrary: fc.constant(call) },
    { weight: 1, arbitrary: fc.constant(turn) },
    { weight: 4, arbitrary: fc.constant(durable) },
    { weight: 1, arbitrary: fc.constantFrom('write', 'datasync', 'sync', 'truncate' as const).map(failNext) },
    { weight: 1, arbitrary: fc.constant(close) },
    { weight: 1, arbitrary: fc.nat(6).map(crash) },
    { weight: 1, arbitrary: fc.constant(fork) },
  ),
  { maxLength: 40 },
)

test('after any operations, failures and losses of power the session holds what was acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const model = new Model()
      for (const step of list) await step(model)
      await crash(0)(model)
      await model.live()
    }),
    { numRuns: Number(process.env['SLUICE_SEEDS_FACTOR'] ?? 1) * 60 },
  )
}, 600_000)
