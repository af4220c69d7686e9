/** Owns `ctx.sessions`: which types are registered and which sessions are live. */
import { mintSessionId, type World } from '@sluice/base'
import { type Context, Service } from 'cordis'
import { sessionErrors } from './errors.ts'
import { sessionEvents } from './events.ts'
import { openWork } from './open-work.ts'
import { planRepair } from './repair.ts'
import { LiveSession, type SessionParts } from './session.ts'
import type {
  CreateSessionOptions,
  EventTable,
  LogFinding,
  OpenedLog,
  Session,
  SessionEvent,
  SessionStore,
  Sessions,
  SessionSummary,
} from './types.ts'
import { type RegisteredType, Vocabulary } from './vocabulary.ts'

const ID = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/

export class SessionsService implements Sessions {
  /** Tells Cordis that `ctx` is the caller's context inside a method. */
  readonly [Service.tracker] = { associate: 'sessions', property: 'ctx' }
  readonly ctx: Context
  private readonly world: World
  private readonly store: SessionStore
  private readonly vocabulary = new Vocabulary()
  private readonly live = new Map<string, LiveSession>()
  private readonly onError: (error: unknown) => void

  constructor(ctx: Context) {
    this.ctx = ctx
    this.world = ctx.world
    this.store = ctx.sessionStore
    const logger = ctx.logger('session')
    this.onError = (error) => logger.warn(error)
    this.vocabulary.define(sessionEvents, 'session', false)
  }

  define(table: EventTable): () => void {
    const { ctx, vocabulary } = this
    const undefine = ctx.effect(() => vocabulary.define(table, ctx.fiber.name, true), 'ctx.sessions.define()')
    return () => void undefine()
  }

  types(): readonly RegisteredType[] {
    return this.vocabulary.types()
  }

  async create(options: CreateSessionOptions): Promise<Session> {
    const { cwd, id = mintSessionId(this.world), parent, composition } = options
    if (!ID.test(id)) throw sessionErrors('SESSION_ID_INVALID', { id })
    if (this.live.has(id)) throw sessionErrors('SESSION_EXISTS', { id })
    const log = await this.store.create(id)
    const session = this.adopt({ id, cwd, log, events: [], findings: [], readOnly: undefined })
    session.append('session/started', {
      format: 1,
      id,
      cwd,
      ...(parent && { parent }),
      ...(composition !== undefined && { composition }),
    })
    return session
  }

  async open(id: string, mode: 'write' | 'read' = 'write'): Promise<Session> {
    if (!ID.test(id)) throw sessionErrors('SESSION_ID_INVALID', { id })
    const opened = await this.store.open(id, mode)
    const unknown = opened.events.filter((event) => !event.optional && !this.vocabulary.has(event.type))
    const findings = [...opened.findings, ...unknown.map(unknownType)]
    const readOnly = whyReadOnly(mode, opened, unknown)
    const started = opened.events.find((event) => event.type === 'session/started')
    const cwd = (started as SessionEvent<'session/started'> | undefined)?.data.cwd ?? ''
    const session = this.adopt({ id, cwd, log: opened.log, events: opened.events, findings, readOnly })
    if (session.writable) this.resume(session)
    return session
  }

  private resume(session: LiveSession): void {
    const plan = planRepair(session.fold(openWork))
    for (const { type, data, cause } of plan) session.append(type, data, { cause })
    if (plan.length > 0) {
      const interrupted = plan.flatMap((event) => (event.type === 'tool/result' ? [event.data.callId] : []))
      session.append('session/repaired', { interrupted, closed: plan.length })
    }
    session.append('session/resumed', { pid: this.world.host.pid, host: this.world.host.hostname })
  }

  get(id: string): Session | undefined {
    return this.live.get(id)
  }

  list(): Promise<SessionSummary[]> {
    return this.store.list()
  }

  /** Ends every live session; resolves when all are released, whatever failed. */
  async closeAll(): Promise<void> {
    const results = await Promise.allSettled([...this.live.values()].map((session) => session.close()))
    for (const result of results) if (result.status === 'rejected') this.onError(result.reason)
  }

  private adopt(parts: Omit<SessionParts, 'clock' | 'vocabulary' | 'onError' | 'onClose'>): LiveSession {
    const { live, vocabulary, onError } = this
    const onClose = (closed: LiveSession) => {
      if (live.get(closed.id) === closed) live.delete(closed.id)
    }
    const session = new LiveSession({ ...parts, clock: this.world.clock, vocabulary, onError, onClose })
    // A reader beside the writer does not take its place.
    if (session.writable || !live.has(session.id)) live.set(session.id, session)
    return session
  }
}

function unknownType(event: SessionEvent): LogFinding {
  return {
    kind: 'unknown-type',
    line: event.seq + 1,
    detail: `no plugin has registered ${event.type}, and a reader may not skip it`,
  }
}

function whyReadOnly(mode: 'write' | 'read', opened: OpenedLog, unknown: readonly SessionEvent[]): string | undefined {
  if (mode === 'read') return 'it was opened for reading'
  if (!opened.writable) {
    const first = opened.findings[0]
    return first ? `its log is damaged at line ${first.line} (${first.kind})` : 'its store does not let it be written'
  }
  const type = unknown[0]?.type
  return type === undefined ? undefined : `it holds events of the unknown type ${type}`
}
