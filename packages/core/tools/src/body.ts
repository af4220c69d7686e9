/** Owns one try of a body: the barrier before it, the grace after an abort, and what it came to. */
import { isSluiceError, type Json, losslessCopy, messageOf } from '@sluice/base'
import { type AbortSource, reasonText } from './abort.ts'
import { isPromise } from './asking.ts'
import type { Registered } from './definition.ts'
import { toolsErrors } from './errors.ts'
import { Nest } from './nested.ts'
import type { CallState } from './state.ts'
import type { Attempt, Call, Run } from './types.ts'

/** The reason of a signal that a deadline fired. */
export class DeadlineReached extends Error {
  override readonly name = 'TimeoutError'
  readonly by: string
  constructor(ms: number, by: string) {
    super(`no end within ${ms} ms`)
    this.by = by
  }
}

/** Runs the body once. Never rejects. */
export async function runBody(state: CallState, source: AbortSource): Promise<Attempt> {
  const startedAt = state.machine.clock.monotonic()
  const number = ++state.body.tries
  const attempt = (await barrier(state, source, number)) ?? (await tryBody(state, source, number))
  const ms = state.machine.clock.monotonic() - startedAt
  state.detail.tries ??= []
  state.detail.tries.push({ try: number, status: attempt.status, executed: attempt.executed, ms })
  return attempt
}

function failed(error: { code: string; message: string }, executed: 'yes' | 'no'): Attempt {
  return Object.freeze({ status: 'failed', executed, code: error.code, message: error.message.toWellFormed() })
}

function stopped(source: AbortSource, executed: 'yes' | 'no' | 'unknown'): Attempt {
  const { reason } = source
  const status = reason instanceof DeadlineReached ? 'timed-out' : 'aborted'
  return Object.freeze({ status, executed, reason: reasonText(reason).toWellFormed() })
}

/** Why the body may not start, if so. Before the first try of a body that changes something, the log is made durable. */
async function barrier(state: CallState, source: AbortSource, number: number): Promise<Attempt | undefined> {
  const { info } = state.entry as Registered
  const { session, id } = state.start
  const stop = () => {
    if ((state.entry as Registered).gone)
      return failed(toolsErrors('TOOLS_DEFINITION_GONE', { tool: info.name, plugin: info.plugin }), 'no')
    return source.aborted ? stopped(source, 'no') : undefined
  }
  const early = stop()
  if (early || info.annotations.readOnly || number > 1) return early
  try {
    const { seq } = session.append('tool/started', { callId: id, attempt: number })
    await orAborted(session.durable(seq), source)
  } catch (error) {
    return failed(toolsErrors('TOOLS_NOT_DURABLE', { problem: messageOf(error) }), 'no')
  }
  return stop()
}

function orAborted(work: Promise<void>, source: AbortSource): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = source.on(resolve)
    work.then(resolve, reject).finally(off)
  })
}

function tryBody(state: CallState, source: AbortSource, number: number): Promise<Attempt> {
  const { machine, body } = state
  const nest = new Nest(state, source)
  const run = makeRun(state, source, nest, number)
  body.started = true
  body.running++
  return new Promise((resolve) => {
    let over = false
    let grace: { end(): void } | undefined
    const finish = (attempt: Attempt) => {
      over = true
      off()
      grace?.end()
      state.contexts = run.contexts
      state.endTurn = run.ended
      resolve(attempt)
    }
    const off = source.on(() => {
      grace = machine.watchdog.limit(machine.config.graceMs, () => {
        body.abandoned = true
        nest.close('the call was abandoned')
        finish(stopped(source, 'unknown'))
      })
    })
    const settle = async (come: () => Attempt) => {
      run.over = true
      await nest.closed('the body of the outer call has ended')
      body.running--
      if (body.running === 0) body.abandoned = false
      const attempt = come()
      if (over)
        machine.report(`${state.start.tool} (${state.start.id}) settled as ${attempt.status} after it was abandoned`)
      else finish(attempt)
      if (body.running === 0) state.onBodyEnd?.()
    }
    const { definition } = state.entry as Registered
    let answer: unknown
    try {
      answer = definition.execute((state.call as Call).args, run.view)
    } catch (error) {
      void settle(() => thrown(error, source))
      return
    }
    if (!isPromise(answer)) {
      void settle(() => returned(state, answer, source))
      return
    }
    answer.then(
      (value) => void settle(() => returned(state, value, source)),
      (error: unknown) => void settle(() => thrown(error, source)),
    )
  })
}

/** An error is specific unless it is the signal's reason or named AbortError or TimeoutError. */
function thrown(error: unknown, source: AbortSource): Attempt {
  const name = error instanceof Error ? error.name : ''
  const specific = error !== source.reason && name !== 'AbortError' && name !== 'TimeoutError'
  if (source.aborted && !specific) return stopped(source, 'yes')
  const message = messageOf(error)
  const code = isSluiceError(error) ? error.code : 'TOOLS_BODY_FAILED'
  return failed({ code, message }, 'yes')
}

function returned(state: CallState, value: unknown, source: AbortSource): Attempt {
  const checked = checkedValue(state.entry as Registered, value)
  if ('code' in checked) return failed(checked, 'yes')
  return Object.freeze({ status: 'succeeded', executed: 'yes', ...checked, ...(source.aborted && { late: true }) })
}

/** The value as frozen JSON that fits the output schema, or the error. Nothing returned is `null`. */
export function checkedValue(
  entry: Registered,
  value: unknown,
): { readonly value: Json } | { code: string; message: string } {
  let copy: Json
  try {
    copy = value === undefined ? null : losslessCopy(value).value
  } catch (error) {
    const { path, problem } = (error as { data: { path: string; problem: string } }).data
    return toolsErrors('TOOLS_RESULT_NOT_JSON', { path, problem })
  }
  if (entry.output && !entry.output.test(copy)) {
    const problems = entry.output.problems(copy).map((p) => `${p.path} ${p.problem}`)
    return toolsErrors('TOOLS_OUTPUT_INVALID', { problems: problems.join('; ') })
  }
  return { value: copy }
}

/** What the body holds, and what it has said through it. */
interface RunState {
  readonly view: Run
  readonly contexts: string[]
  ended: boolean
  over: boolean
}

function makeRun(state: CallState, source: AbortSource, nest: Nest, number: number): RunState {
  const { id, session, onProgress } = state.start
  const run: RunState = { view: undefined as never, contexts: [], ended: false, over: false }
  const view: Run = Object.freeze({
    callId: id,
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
        state.machine.report(`progress of ${state.start.tool} (${id}) was dropped: ${messageOf(error)}`)
      }
    },
    call: (tool: string, args: unknown) =>
      nest.call(tool, args, run.over, (contexts) => run.contexts.push(...contexts)),
    context(message: string) {
      if (!run.over) run.contexts.push(String(message).toWellFormed())
    },
    endTurn() {
      if (!run.over) run.ended = true
    },
  })
  return Object.assign(run, { view })
}
