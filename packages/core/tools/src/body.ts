/** Owns one try of a body: the barrier before it, what it is given, and the grace after an abort. */
import { type Json, losslessCopy, messageOf } from '@sluice/base'
import type { AbortSource } from './abort.ts'
import { isPromise } from './asking.ts'
import { failed, returned, stopped, thrown } from './attempt.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { Nest } from './nested.ts'
import type { CallState } from './state.ts'
import type { Attempt, Call, Run } from './types.ts'
import type { Limit } from './watchdog.ts'

/** Runs the body once. Never rejects. */
export async function runBody(state: CallState, source: AbortSource): Promise<Attempt> {
  const startedAt = state.machine.clock.monotonic()
  const number = ++state.body.tries
  const tries = (state.detail.tries ??= [])
  const attempt =
    hindrance(state, source) ??
    (await unrecorded(state, source, number)) ??
    // Asked again at the last moment: nothing happens between this answer and the start of the body.
    hindrance(state, source) ??
    (await tryBody(state, source, number))
  const ms = state.machine.clock.monotonic() - startedAt
  tries.push({ try: number, status: attempt.status, executed: attempt.executed, ms })
  return attempt
}

/** Why the body may not start, if so. */
function hindrance(state: CallState, source: AbortSource): Attempt | undefined {
  const { gone, info, plugin } = state.entry as Registered
  if (gone) return failed(toolsErrors('TOOLS_DEFINITION_GONE', { tool: info.name, plugin }), 'no')
  return source.aborted ? stopped(source, 'no') : undefined
}

/** Makes `tool/started` durable before the first body that may change something; why that failed, if so. */
async function unrecorded(state: CallState, source: AbortSource, number: number): Promise<Attempt | undefined> {
  const { session, id } = state.start
  if ((state.entry as Registered).info.annotations.readOnly || state.body.started) return undefined
  try {
    const { seq } = session.append('tool/started', { callId: id, attempt: number })
    await orAborted(session.durable(seq), source)
  } catch (error) {
    return failed(toolsErrors('TOOLS_NOT_DURABLE', { problem: messageOf(error) }), 'no')
  }
  return undefined
}

function orAborted(work: Promise<void>, source: AbortSource): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = source.on(resolve)
    work.then(resolve, reject).finally(off)
  })
}

function tryBody(state: CallState, source: AbortSource, number: number): Promise<Attempt> {
  return new Promise((resolve) => new Try(state, source, number, resolve).start())
}

/** A body under way. It settles or is abandoned, whichever comes first; its nested calls end before either counts. */
class Try {
  private readonly state: CallState
  private readonly source: AbortSource
  private readonly nest: Nest
  private readonly run: RunState
  private readonly resolve: (attempt: Attempt) => void
  private readonly off: () => void
  private grace: Limit | undefined
  private abandoned = false

  constructor(state: CallState, source: AbortSource, number: number, resolve: (attempt: Attempt) => void) {
    this.state = state
    this.source = source
    this.resolve = resolve
    this.nest = new Nest(state, source)
    this.run = makeRun(state, source, this.nest, number)
    const { watchdog, config } = state.machine
    this.off = source.on(() => {
      this.grace = watchdog.limit(config.graceMs, () => void this.abandon())
    })
  }

  start(): void {
    const { state, source, run } = this
    const entry = state.entry as Registered
    state.body.started = true
    state.body.abandoned = false
    state.body.running++
    const came = (value: unknown) => this.settle(returned(entry, value, source))
    const failing = (error: unknown) => this.settle(thrown(error, source))
    let answer: unknown
    try {
      answer = entry.definition.execute((state.call as Call).args, run.view)
    } catch (error) {
      return void failing(error)
    }
    // A thenable of the tool's own making may settle twice or throw; a promise made of it does not.
    if (isPromise(answer)) Promise.resolve(answer).then(came, failing)
    else void came(answer)
  }

  private async settle(attempt: Attempt): Promise<void> {
    const { state, abandoned } = this
    const { body, machine, start } = state
    await this.end('the body of the outer call has ended')
    body.running--
    if (abandoned) machine.report(`${start.tool} (${start.id}) settled as ${attempt.status} after it was abandoned`)
    else this.leave(attempt)
    state.bodyEnded()
  }

  private async abandon(): Promise<void> {
    this.abandoned = true
    this.state.body.abandoned = true
    await this.end('the call was abandoned')
    this.leave(stopped(this.source, 'unknown'))
  }

  /** The run dies, then its nested calls. */
  private async end(why: string): Promise<void> {
    this.run.over = true
    this.off()
    this.grace?.end()
    await this.nest.closed(why)
  }

  private leave(attempt: Attempt): void {
    this.state.contexts = this.run.contexts
    this.state.endTurn = this.run.ended
    this.resolve(attempt)
  }
}

/** What the body holds, and what it has said through it. */
export interface RunState {
  readonly view: Run
  readonly contexts: string[]
  ended: boolean
  over: boolean
}

function makeRun(state: CallState, source: AbortSource, nest: Nest, number: number): RunState {
  const { machine, start } = state
  const { id, tool, agent, session, onProgress } = start
  const run: RunState = { view: undefined as never, contexts: [], ended: false, over: false }
  const view: Run = Object.freeze({
    callId: id,
    agent,
    session,
    get signal() {
      return source.signal
    },
    attempt: number,
    progress(update: Json) {
      if (run.over) return
      try {
        onProgress(losslessCopy(update).value)
      } catch (error) {
        machine.report(`progress of ${tool} (${id}) was dropped: ${messageOf(error)}`)
      }
    },
    log(message: string) {
      if (!run.over) machine.report(`${tool} (${id}): ${message}`)
    },
    call: (name: string, args: unknown) => nest.call(name, args, run),
    context(message: string) {
      if (!run.over) run.contexts.push(String(message).toWellFormed())
    },
    endTurn() {
      if (!run.over) run.ended = true
    },
  })
  return Object.assign(run, { view })
}
