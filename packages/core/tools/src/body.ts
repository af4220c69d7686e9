/** Owns one try of a body: the barrier before it, what it is given, and the grace after an abort. */
import { isPromise, type Json, losslessCopy, messageOf } from '@sluice/base'
import type { AbortSource, Limit } from '@sluice/listeners'
import type { Session } from '@sluice/session'
import { type Attempt, failed, returned, stopped, thrown } from './attempt.ts'
import { signalled } from './call.ts'
import { toolsErrors } from './errors.ts'
import { Nest } from './nested.ts'
import { outerAbandoned, outerEnded } from './prompt.ts'
import type { AdmittedCall } from './state.ts'

/** What a body is given. Dies when the body settles. */
export interface Run {
  readonly callId: string
  readonly agent: string | undefined
  readonly session: Session
  readonly signal: AbortSignal
  /** 1 for the first try. */
  readonly attempt: number
  progress(update: Json): void
  /** Says something to a person, through the logger. */
  log(message: string): void
  /** Makes a nested call; the only way to make one.
   *  @throws TOOLS_NESTED_FAILED with code, tool, reason, executed; TOOLS_RUN_OVER after the body has settled */
  call(tool: string, args: unknown): Promise<Json>
  /** Tells the model something after the batch. */
  context(message: string): void
  /** The turn ends after this batch. */
  endTurn(): void
}

/** What a body has said through its run. */
export interface Said {
  readonly contexts: string[]
  ended: boolean
  /** The run is dead. */
  over: boolean
}

/** Runs the body once. Never rejects. */
export async function runBody(
  state: AdmittedCall,
  source: AbortSource,
  startedAt = state.machine.clock.monotonic(),
): Promise<Attempt> {
  const number = ++state.body.tries
  const tries = (state.detail.tries ??= [])
  const attempt =
    hindrance(state, source) ??
    (state.body.started || state.entry.info.annotations.readOnly
      ? undefined
      : await unrecorded(state, source, number)) ??
    // Asked again at the last moment: nothing happens between this answer and the start of the body.
    hindrance(state, source) ??
    (await new Promise<Attempt>((resolve) => new Try(state, source, number, resolve).start()))
  tries.push({
    try: number,
    status: attempt.status,
    executed: attempt.executed,
    ms: state.machine.clock.monotonic() - startedAt,
  })
  return attempt
}

/** Why the body may not start, if so. */
function hindrance({ entry: { gone, info, plugin } }: AdmittedCall, source: AbortSource): Attempt | undefined {
  if (gone) return failed(toolsErrors('TOOLS_DEFINITION_GONE', { tool: info.name, plugin }), 'no')
  return source.aborted ? stopped(source, 'no') : undefined
}

/** Makes `tool/started` durable before the first body that may change something; why that failed, if so. */
async function unrecorded(state: AdmittedCall, source: AbortSource, number: number): Promise<Attempt | undefined> {
  const { session, id } = state.start
  try {
    const { seq } = session.append('tool/started', { callId: id, attempt: number })
    await new Promise<void>((resolve, reject) => {
      const off = source.on(resolve)
      session.durable(seq).then(resolve, reject).finally(off)
    })
  } catch (error) {
    return failed(toolsErrors('TOOLS_NOT_DURABLE', { problem: messageOf(error) }), 'no')
  }
  return undefined
}

/** A body under way. It settles or is abandoned, whichever comes first; its nested calls end before either counts. */
class Try {
  private readonly state: AdmittedCall
  private readonly source: AbortSource
  private readonly number: number
  private readonly said: Said = { contexts: [], ended: false, over: false }
  /** Its nested calls, once it makes one. */
  private nest: Nest | undefined
  private readonly resolve: (attempt: Attempt) => void
  private readonly off: () => void
  private grace: Limit | undefined
  private abandoned = false

  constructor(state: AdmittedCall, source: AbortSource, number: number, resolve: (attempt: Attempt) => void) {
    const { limits, config } = state.machine
    this.state = state
    this.source = source
    this.number = number
    this.resolve = resolve
    this.off = source.on(() => (this.grace = limits.watchdog.limit(config.graceMs, () => this.abandon())))
  }

  start(): void {
    const { state, source } = this
    const { entry, body } = state
    body.started = true
    body.abandoned = false
    body.running++
    let answer: unknown
    try {
      answer = entry.definition.execute(state.call.args, this.run())
    } catch (error) {
      return this.settle(thrown(error, source))
    }
    if (isPromise(answer)) void this.follow(answer)
    else this.settle(returned(entry, answer, source))
  }

  private async follow(answer: PromiseLike<unknown>): Promise<void> {
    const { state, source } = this
    let value: unknown
    try {
      value = await answer
    } catch (error) {
      return this.settle(thrown(error, source))
    }
    this.settle(returned(state.entry, value, source))
  }

  private run(): Run {
    const { state, source, said, number } = this
    const { machine, start } = state
    const { id, tool, agent, session } = start
    const run = {
      callId: id,
      agent,
      session,
      attempt: number,
      progress(update: Json) {
        if (said.over) return
        try {
          start.onProgress(losslessCopy(update).value)
        } catch (error) {
          machine.report(`progress of ${tool} (${id}) was dropped: ${messageOf(error)}`)
        }
      },
      log(message: string) {
        if (!said.over) machine.report(`${tool} (${id}): ${message}`)
      },
      call: (name: string, args: unknown) => (this.nest ??= new Nest(state, source, said)).call(name, args),
      context(message: string) {
        if (!said.over) said.contexts.push(String(message).toWellFormed())
      },
      endTurn() {
        if (!said.over) said.ended = true
      },
    }
    return signalled(run, source)
  }

  private settle(attempt: Attempt): void {
    this.end(outerEnded, () => {
      const { state, abandoned } = this
      const { body, machine, start } = state
      body.running--
      if (abandoned) machine.report(`${start.tool} (${start.id}) settled as ${attempt.status} after it was abandoned`)
      else this.leave(attempt)
      state.bodyEnded()
    })
  }

  private abandon(): void {
    this.abandoned = true
    this.state.body.abandoned = true
    this.end(outerAbandoned, () => this.leave(stopped(this.source, 'unknown')))
  }

  /** The run dies, then its nested calls. */
  private end(why: string, then: () => void): void {
    this.said.over = true
    this.off()
    this.grace?.end()
    const closing = this.nest?.closed(why)
    if (closing) void closing.then(then)
    else then()
  }

  private leave(attempt: Attempt): void {
    this.state.contexts = Object.freeze([...this.said.contexts])
    this.state.endTurn = this.said.ended
    this.resolve(attempt)
  }
}
