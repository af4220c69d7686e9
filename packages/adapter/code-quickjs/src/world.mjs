/** Owns one world: a fresh engine with the prelude in it, its limits, and how a run in it ends. */
import { getQuickJS } from 'quickjs-emscripten'
import { transform } from 'sucrase'
import { prelude } from './prelude.mjs'

/** Microtasks between two looks at the limits. */
const JOBS_MAX = 1_000
/** Calls, and characters of them, that are handed to the host in one piece. */
const BATCH_CALLS = 64
const BATCH_CHARS = 1 << 16
/** A program that waits for nothing with so much of its memory in use has lost a failure to get more. */
const FULL = 0.9

/** What the prelude hands over when there is no call. */
const NONE = '-'

let engine

/** To be awaited before the first world. */
export async function loadEngine() {
  engine = await getQuickJS()
}

/** The way a run ends before its program does. */
class Ended extends Error {
  constructor(kind, message) {
    super(message)
    this.kind = kind
  }
}

export class World {
  /** `tell` hears of many calls at once, and of an end before the program's own: it may not come back to hear of it. */
  constructor(limits, tell) {
    this.limits = limits
    this.tell = tell
    this.output = []
    this.outputBytes = 0
    this.transfer = 0
    this.activeMs = 0
    this.since = undefined
    this.result = undefined
    this.ending = undefined
    this.runtime = engine.newRuntime()
    this.runtime.setMemoryLimit(limits.memoryBytes)
    this.runtime.setMaxStackSize(limits.stackBytes)
    this.runtime.setInterruptHandler(() => this.late())
    this.context = this.runtime.newContext()
    this.handles = []
  }

  /** Starts the program; what it does until it waits happens now. */
  begin(program, bindings) {
    this.compute(() => {
      const { context } = this
      const [make, list] = [prelude, JSON.stringify(bindings)].map((code) =>
        this.keep(this.value(context.evalCode(code))),
      )
      const numbers = [this.limits.callsMax, BATCH_CALLS, BATCH_CHARS].map((n) => context.newNumber(n))
      const api = this.keep(this.value(context.callFunction(make, context.undefined, this.host(), list, ...numbers)))
      this.api = Object.fromEntries(
        ['start', 'settle', 'take', 'waits'].map((name) => [name, this.keep(context.getProp(api, name))]),
      )
      const main = this.keep(this.value(context.evalCode(stripped(program), 'program.ts')))
      this.ask('start', main).dispose()
    })
  }

  /** Gives replies to the program; what it does until it waits again happens now. */
  settle(replies) {
    this.count(replies)
    this.compute(() => {
      const text = this.context.newString(replies)
      try {
        this.ask('settle', text).dispose()
      } finally {
        text.dispose()
      }
    })
  }

  /** What the program has asked for and printed since the last time, and the outcome once it is over; `undefined` when it was
   *  ended, which has been told. */
  report() {
    try {
      const calls = this.ending ? '' : this.calls()
      if (calls === '' && !this.ending && !this.result && !this.waits()) this.stuck()
      const outcome = this.result && outcomeOf(this.result)
      return this.ending ? undefined : { calls, output: this.output.splice(0), outcome }
    } catch (error) {
      this.broken(error)
      return undefined
    }
  }

  /** False when the engine cannot be used again. */
  dispose() {
    try {
      for (const handle of this.handles) handle.dispose()
      this.context.dispose()
      this.runtime.dispose()
      return true
    } catch {
      return false
    }
  }

  keep(handle) {
    this.handles.push(handle)
    return handle
  }

  late() {
    const now = this.since === undefined ? 0 : performance.now() - this.since
    if (this.activeMs + now > this.limits.activeMs)
      this.end('timeout', `it computed for more than ${this.limits.activeMs} ms`)
    return this.ending !== undefined
  }

  /** Calls a function of the prelude.
   *  @throws Ended */
  ask(name, ...args) {
    return this.value(this.context.callFunction(this.api[name], this.context.undefined, ...args))
  }

  flush(calls) {
    if (!this.ending) this.tell({ calls, more: true })
  }

  broken(error) {
    if (error instanceof Ended) this.end(error.kind, error.message)
    else this.end('crash', String(error?.message ?? error))
  }

  end(kind, message) {
    if (this.ending) return
    this.ending = new Ended(kind, message)
    this.tell({ calls: '', output: this.output, outcome: { kind, message }, reusable: false })
  }

  /** Runs `work` and then every microtask, with the clock of the program going. */
  compute(work) {
    this.since = performance.now()
    try {
      if (this.ending === undefined) work()
      for (let more = true; more && !this.result && !this.late(); ) {
        const ran = this.runtime.executePendingJobs(JOBS_MAX)
        if (ran.error) this.failed(ran.error)
        else more = ran.value === JOBS_MAX
      }
    } catch (error) {
      this.broken(error)
    }
    this.activeMs += performance.now() - this.since
    // What is asked of the prelude from here on is not the program's time.
    this.since = undefined
  }

  failed(handle) {
    const thrown = handle.consume((error) => this.context.dump(error))
    const message = String(thrown?.message ?? thrown)
    this.end(/out of memory/.test(message) ? 'memory' : 'exception', message)
  }

  /** @throws Ended */
  value(result) {
    if (!result.error) return result.value
    this.failed(result.error)
    throw this.ending
  }

  host() {
    const { context } = this
    const host = this.keep(context.newObject())
    const define = (name, work) =>
      context.newFunction(name, work).consume((handle) => context.setProp(host, name, handle))
    define('flush', (calls) => this.flush(this.counted(calls)))
    define('log', (line) => this.log(context.getString(line)))
    define('exceeded', () => this.end('exception', `it made more than ${this.limits.callsMax} calls`))
    define('done', (ok, json) => {
      this.result = { ok: context.dump(ok) === true, json: this.counted(json) }
    })
    return host
  }

  /** A text of the prelude; none is empty, unless there was no memory to hand it over. */
  counted(handle) {
    const text = this.context.getString(handle)
    if (text === '') this.end('memory', 'out of memory')
    this.count(text)
    return text
  }

  count(text) {
    this.transfer += Buffer.byteLength(text)
    if (this.transfer > this.limits.transferBytes)
      this.end('output', `more than ${this.limits.transferBytes} bytes crossed the border of the program`)
  }

  log(line) {
    this.outputBytes += Buffer.byteLength(line) + 1
    if (this.outputBytes > this.limits.outputBytes)
      this.end('output', `it printed more than ${this.limits.outputBytes} bytes`)
    else this.output.push(line)
  }

  calls() {
    const calls = this.ask('take').consume((text) => this.counted(text))
    return calls === NONE ? '' : calls
  }

  waits() {
    return this.ask('waits').consume((waits) => this.context.dump(waits)) === true
  }

  stuck() {
    const used = this.runtime.computeMemoryUsage().consume((handle) => this.context.dump(handle))
    if (used.malloc_size > this.limits.memoryBytes * FULL) this.end('memory', 'out of memory')
    else this.end('exception', 'it waits for something that never settles')
  }
}

/** The program as plain JavaScript, lines kept. */
function stripped(program) {
  try {
    const { code } = transform(`(async () => {${program}\n})`, {
      transforms: ['typescript'],
      disableESTransforms: true,
    })
    return code
  } catch (error) {
    throw new Ended('exception', `it cannot be parsed: ${error.message}`)
  }
}

function outcomeOf({ ok, json }) {
  if (ok) return { kind: 'value', json }
  const [name, message, stack] = JSON.parse(json)
  const line = /program\.ts:(\d+)/.exec(stack)?.[1]
  return {
    kind: /out of memory/.test(message) && name === 'InternalError' ? 'memory' : 'exception',
    message: name === 'Error' ? message : `${name}: ${message}`,
    ...(line && { line: Number(line) }),
  }
}
