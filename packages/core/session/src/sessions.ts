/** Owns `ctx.sessions`: which types and folds are registered and which sessions are live. */
import { assert, type Json, mintSessionId, type World } from '@sluice/base'
import { type Context, Service } from 'cordis'
import { decodeState, type SessionState } from './checkpoint.ts'
import { sessionErrors } from './errors.ts'
import { sessionEvents } from './events.ts'
import { Inspection, sorted } from './findings.ts'
import { handOn, sharedPast, takenBack } from './fork.ts'
import { digestsIn } from './named-blobs.ts'
import { openWork } from './open-work.ts'
import { planRepair } from './repair.ts'
import { LiveSession, type SessionHome, type SessionParts } from './session.ts'
import type {
  CreateSessionOptions,
  EventTable,
  Fold,
  ForkOptions,
  LogFinding,
  LogHolder,
  OpenedLog,
  OpenSessionOptions,
  RepairedLog,
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
  private readonly folds = new Map<string, Fold<unknown>>([[openWork.name, openWork as Fold<unknown>]])
  private readonly live = new Map<string, LiveSession>()
  private readonly home: SessionHome

  constructor(ctx: Context, options: { readonly inlineBytesMax: number }) {
    this.ctx = ctx
    this.world = ctx.world
    this.store = ctx.sessionStore
    const { live, vocabulary, folds } = this
    const logger = ctx.logger('session')
    this.home = {
      clock: ctx.world.clock,
      vocabulary,
      inlineBytesMax: options.inlineBytesMax,
      registeredFolds: () => folds.values(),
      onError: (error) => logger.warn(error),
      onClose(closed) {
        if (live.get(closed.id) === closed) live.delete(closed.id)
      },
    }
    vocabulary.define(sessionEvents, 'session', false)
  }

  define(table: EventTable): () => Promise<void> {
    const { ctx, vocabulary } = this
    return ctx.effect(() => vocabulary.define(table, ctx.fiber.name, true), 'ctx.sessions.define()')
  }

  registerFold(fold: Fold<unknown>): () => void {
    const { ctx, folds } = this
    const forget = ctx.effect(() => {
      assert(!folds.has(fold.name), `the fold ${fold.name} is registered already`)
      folds.set(fold.name, fold)
      return () => folds.delete(fold.name)
    }, 'ctx.sessions.registerFold()')
    return () => void forget()
  }

  types(): readonly RegisteredType[] {
    return this.vocabulary.types()
  }

  async create(options: CreateSessionOptions): Promise<Session> {
    const { cwd, id = mintSessionId(this.world), parent, composition } = options
    const session = await this.begin(id, cwd)
    session.append('session/started', {
      format: 1,
      id,
      cwd,
      ...(parent && { parent }),
      ...(composition !== undefined && { composition }),
    })
    return session
  }

  private async begin(id: string, cwd: string, events: readonly SessionEvent[] = []): Promise<LiveSession> {
    assertId(id)
    if (this.live.has(id)) throw sessionErrors('SESSION_EXISTS', { id })
    const log = await this.store.create(id)
    await closedOnFailure(log, () => handOn(log, events))
    return this.adopt({ id, cwd, log, events, findings: [], readOnly: undefined, resumed: undefined })
  }

  async open(id: string, mode: 'write' | 'read' = 'write', options: OpenSessionOptions = {}): Promise<Session> {
    assertId(id)
    let accepted: SessionState | undefined
    const accepts = (json: Json) => {
      accepted = decodeState(json, this.vocabulary.binding(), this.folds.values())
      return accepted !== undefined
    }
    const opened = await this.store.open(id, mode, options.whole ? {} : { accepts })
    const { checkpoint } = opened
    const state = checkpoint && accepted
    const { good, misfits } = sorted(this.vocabulary, opened.events)
    const isDamaged = opened.findings.some((finding) => finding.kind !== 'torn-tail')
    // Where lines are missing or too many, only reading them tells which they are.
    const findings = isDamaged && misfits.length > 0 ? await this.scan(id, () => {}) : [...misfits, ...opened.findings]
    const session = this.adopt({
      id,
      cwd: state ? state.cwd : cwdOf(good),
      log: opened.log,
      events: good,
      findings,
      readOnly: whyReadOnly(mode, opened, misfits),
      resumed: checkpoint && state && { seq: checkpoint.seq, state },
    })
    if (session.writable) await closedOnFailure(session, () => this.resume(session))
    return session
  }

  /** Ends what the last host has left running, then closes what it has left open in the log. */
  private async resume(session: LiveSession): Promise<void> {
    const { host, processes } = this.world
    const work = session.fold(openWork)
    const ended = work.processes ? await processes.endOrphans(session.id) : 0
    const plan = planRepair(work)
    for (const { type, data, cause } of plan) session.append(type, data, { cause })
    if (plan.length > 0) {
      const interrupted = plan.flatMap((event) => (event.type === 'tool/result' ? [event.data.callId] : []))
      session.append('session/repaired', { interrupted, closed: plan.length })
    }
    session.append('session/resumed', { pid: host.pid, host: host.hostname, ...(ended > 0 && { ended }) })
  }

  async fork(parentId: string, options: ForkOptions = {}): Promise<Session> {
    const { id = mintSessionId(this.world), composition } = options
    assertId(parentId)
    const { log, events, findings } = await this.store.open(parentId, 'read')
    await log.close()
    // What the parent has not brought to disk yet is its past all the same; a reader may have seen less than the disk has.
    const live = this.live.get(parentId)
    const whole = live?.writable ? [...events.slice(0, live.firstSeq), ...live.events] : events
    const { misfits } = sorted(this.vocabulary, whole)
    const past = sharedPast(parentId, whole, [...findings, ...misfits], options.seq)
    const cwd = cwdOf(whole)
    const parent = { id: parentId, seq: past.at(-1)?.seq ?? 0 }
    const data = { format: 1 as const, id, cwd, parent, ...(composition !== undefined && { composition }) }
    const started = { seq: 0, at: this.world.clock.now(), type: 'session/started', data }
    const frozen = Object.freeze({ ...started, data: Object.freeze({ ...data, parent: Object.freeze(parent) }) })
    const session = await this.begin(id, cwd, [frozen, ...past, ...takenBack(whole, past)])
    await closedOnFailure(session, () => session.share(parentId, digestsIn(past)))
    return session
  }

  async scan(id: string, visit: (event: SessionEvent) => void): Promise<readonly LogFinding[]> {
    assertId(id)
    // Not by way of `this` for each event: the framework traces its caller, which costs microseconds.
    const { store } = this
    const inspection = new Inspection(this.vocabulary)
    const findings = await store.scan(id, (event, line) => {
      inspection.look(event, line)
      visit(event)
    })
    const found = await inspection.found(async (digest) => store.blobState?.(id, digest))
    return [...findings, ...found].sort((a, b) => a.line - b.line)
  }

  async repair(id: string): Promise<RepairedLog> {
    assertId(id)
    const { vocabulary } = this
    return this.store.repair(id, (event) => vocabulary.finding(event, 0)?.kind !== 'bad-event')
  }

  async remove(id: string, last?: number): Promise<void> {
    assertId(id)
    return this.store.remove(id, last)
  }

  async holder(id: string): Promise<LogHolder | undefined> {
    assertId(id)
    return this.store.holder(id)
  }

  async unlock(id: string, holder: LogHolder): Promise<void> {
    assertId(id)
    return this.store.unlock(id, holder)
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
    for (const result of results) if (result.status === 'rejected') this.home.onError(result.reason)
  }

  private adopt(parts: SessionParts): LiveSession {
    const session = new LiveSession(parts, this.home)
    // A reader beside the writer does not take its place.
    if (session.writable || !this.live.has(session.id)) this.live.set(session.id, session)
    return session
  }
}

function assertId(id: string): void {
  if (!ID.test(id)) throw sessionErrors('SESSION_ID_INVALID', { id })
}

function cwdOf(events: readonly SessionEvent[]): string {
  const [first] = events
  return first?.type === 'session/started' ? (first as SessionEvent<'session/started'>).data.cwd : ''
}

/** What nobody gets a hold of must not hold its session. */
async function closedOnFailure(opened: { close(): Promise<void> }, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    await opened.close().catch(() => {})
    throw error
  }
}

function whyReadOnly(mode: 'write' | 'read', opened: OpenedLog, misfits: readonly LogFinding[]): string | undefined {
  if (mode === 'read') return 'it was opened for reading'
  const damage = opened.findings.find((finding) => finding.kind !== 'torn-tail')
  if (damage) return `its log is damaged at line ${damage.line} (${damage.kind})`
  if (!opened.writable) return 'its store does not let it be written'
  return misfits[0]?.detail
}
