/**
 * Owns the inside of a worker: one world at a time, made fresh for a run and thrown away after it. Messages from the host are
 * `run`, `settle` and `end`; messages to it are `ready`, `calls`, `idle` and `done`.
 */
import { parentPort } from 'node:worker_threads'
import { getQuickJS } from 'quickjs-emscripten'
import { transform } from 'sucrase'
import { prelude } from './prelude.mjs'

/** Microtasks between two looks at the limits. */
const JOBS_MAX = 1_000
/** Lines of the program stand after a head of this many lines. */
const HEAD_LINES = 0

const engine = await getQuickJS()

/** The way a run ends before its program does. */
class Ended extends Error {
  constructor(kind, message) {
    super(message)
    this.kind = kind
  }
}

class World {
  constructor(id, limits) {
    this.id = id
    this.limits = limits
    this.output = []
    this.outputBytes = 0
    this.calls = []
    this.made = 0
    this.open = 0
    this.transfer = 0
    this.activeMs = 0
    this.since = 0
    this.result = undefined
    this.ending = undefined
    this.timers = new Set()
    this.runtime = engine.newRuntime()
    this.runtime.setMemoryLimit(limits.memoryBytes)
    this.runtime.setMaxStackSize(limits.stackBytes)
    this.runtime.setInterruptHandler(() => {
      if (this.ending === undefined && this.active() > limits.activeMs)
        this.ending = new Ended('timeout', `it computed for more than ${limits.activeMs} ms`)
      return this.ending !== undefined
    })
    this.context = this.runtime.newContext()
  }

  active() {
    return this.activeMs + (performance.now() - this.since)
  }

  /** Runs `work` and then every microtask, with the clock of the program going. */
  compute(work) {
    this.since = performance.now()
    try {
      work()
      while (this.result === undefined && this.ending === undefined && this.runtime.hasPendingJob()) {
        const ran = this.runtime.executePendingJobs(JOBS_MAX)
        if (ran.error) this.failed(ran.error)
      }
    } finally {
      this.activeMs += performance.now() - this.since
    }
  }

  failed(handle) {
    const error = handle.consume((thrown) => this.context.dump(thrown))
    if (this.ending) return
    const message = String(error?.message ?? error)
    this.ending = /out of memory/.test(message) ? new Ended('memory', message) : new Ended('exception', message)
  }

  unwrap(result) {
    if (!result.error) return result.value
    this.failed(result.error)
    throw this.ending
  }

  host() {
    const { context } = this
    const host = context.newObject()
    const define = (name, work) => {
      const handle = context.newFunction(name, (...handles) => work(...handles))
      context.setProp(host, name, handle)
      handle.dispose()
    }
    define('call', (id, name, json) =>
      this.call(context.getNumber(id), context.getString(name), context.getString(json)),
    )
    define('log', (line) => this.log(context.getString(line)))
    define('sleep', (id, ms) => this.sleep(context.getNumber(id), context.getNumber(ms)))
    define('done', (ok, json) => {
      this.result ??= { ok: context.dump(ok) === true, json: context.getString(json) }
      this.count(this.result.json)
    })
    return host
  }

  count(text) {
    this.transfer += Buffer.byteLength(text)
    if (this.transfer > this.limits.transferBytes)
      this.ending ??= new Ended(
        'output',
        `more than ${this.limits.transferBytes} bytes crossed the border of the program`,
      )
  }

  call(id, binding, json) {
    this.count(json)
    if (++this.made > this.limits.callsMax) {
      this.ending ??= new Ended('exception', `it made more than ${this.limits.callsMax} calls`)
      return
    }
    this.open++
    this.calls.push({ id, binding, json })
  }

  log(line) {
    this.outputBytes += Buffer.byteLength(line) + 1
    if (this.outputBytes > this.limits.outputBytes)
      this.ending ??= new Ended('output', `it printed more than ${this.limits.outputBytes} bytes`)
    else this.output.push(line)
  }

  sleep(id, ms) {
    const timer = setTimeout(
      () => {
        this.timers.delete(timer)
        settle({ run: this.id, replies: [{ id, ok: true, value: null }], calls: 0 })
      },
      Math.min(Math.max(0, ms || 0), 2 ** 31 - 1),
    )
    this.timers.add(timer)
  }

  begin(program, bindings) {
    const { context } = this
    this.since = performance.now()
    const list = this.unwrap(context.evalCode(`(${JSON.stringify(bindings)})`, 'bindings.js'))
    const make = this.unwrap(context.evalCode(prelude, 'prelude.js'))
    const host = this.host()
    this.api = this.unwrap(context.callFunction(make, context.undefined, host, list))
    for (const handle of [list, make, host]) handle.dispose()
    this.compute(() => {
      const main = this.unwrap(context.evalCode(stripped(program), 'program.ts'))
      this.invoke('start', main)
      main.dispose()
    })
  }

  invoke(name, ...args) {
    const method = this.context.getProp(this.api, name)
    const result = this.context.callFunction(method, this.api, ...args)
    method.dispose()
    this.unwrap(result).dispose()
  }

  settle(replies) {
    const text = JSON.stringify(replies)
    this.count(text)
    if (this.ending) return
    this.compute(() => {
      const batch = this.context.newString(text)
      this.invoke('settle', batch)
      batch.dispose()
    })
  }

  /** Why the run is over, if it is. */
  over() {
    if (this.ending) return this.ending
    if (this.result || this.open > 0 || this.timers.size > 0) return undefined
    const used = this.context.runtime.computeMemoryUsage().consume((handle) => this.context.dump(handle))
    if (used.malloc_size > this.limits.memoryBytes * 0.9) return new Ended('memory', 'out of memory')
    return new Ended('exception', 'it waits for something that never settles')
  }

  /** True when the engine can be used again. */
  dispose() {
    for (const timer of this.timers) clearTimeout(timer)
    if (this.ending) return false
    try {
      this.api?.dispose()
      this.context.dispose()
      this.runtime.dispose()
      return true
    } catch {
      return false
    }
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

let world

function report(error) {
  const { id, output, made, activeMs, result } = world
  const ended = error ?? world.over()
  if (!ended && !result) {
    const { calls } = world
    world.calls = []
    parentPort.postMessage({ type: 'idle', run: id, calls })
    return
  }
  const outcome = ended ? { kind: ended.kind, message: ended.message } : outcomeOf(result)
  // Calls of the last moment are made too: they were submitted before the end.
  const { calls } = world
  const reusable = world.dispose()
  world = undefined
  parentPort.postMessage({
    type: 'done',
    run: id,
    calls,
    outcome: { ...outcome, output, calls: made, activeMs },
    reusable,
  })
}

function outcomeOf({ ok, json }) {
  if (ok) return { kind: 'value', json }
  const { name, message, stack } = JSON.parse(json)
  const line = /program\.ts:(\d+)/.exec(stack)?.[1]
  const kind = /out of memory/.test(message) && name === 'InternalError' ? 'memory' : 'exception'
  return {
    kind,
    message: name === 'Error' ? message : `${name}: ${message}`,
    ...(line && { line: Number(line) - HEAD_LINES }),
  }
}

function guarded(work) {
  try {
    work()
    report()
  } catch (error) {
    report(error instanceof Ended ? error : new Ended('crash', String(error?.message ?? error)))
  }
}

function settle({ run, replies, calls }) {
  if (world?.id !== run) return
  world.open -= calls
  guarded(() => world.settle(replies))
}

parentPort.on('message', (message) => {
  if (message.type === 'run') {
    world = new World(message.run, message.limits)
    guarded(() => world.begin(message.program, message.bindings))
  } else if (message.type === 'settle') settle({ ...message, calls: message.replies.length })
})
parentPort.postMessage({ type: 'ready' })
