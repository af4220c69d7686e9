/**
 * Owns the inside of a worker: one world at a time, made fresh for a run and thrown away after it. From the host come runs and
 * texts of replies; each is answered by one text of calls, or by an object that holds more. Calls can be handed over before.
 */
import { receiveMessageOnPort, workerData } from 'node:worker_threads'
import { loadEngine, World } from './world.mjs'

/** How long the next message is looked for without sleeping: waking up takes longer than a fast reply. */
const LOOK_MS = 0.1
/** For how many messages nothing is looked for after that was in vain. */
const REST = 100

/** @type {{ port: import('node:worker_threads').MessagePort }} */
const { port } = workerData
let world
let rest = 0

function handle(message) {
  if (typeof message !== 'string') begin(message)
  else if (world) world.settle(message)
  // These replies crossed the end of their program.
  else return
  answer()
}

function begin({ program, bindings, limits }) {
  world = new World(limits, (report) => port.postMessage(report))
  world.begin(program, bindings)
}

function answer() {
  const report = world.report()
  if (report?.outcome) report.reusable = world.dispose()
  if (!report || report.outcome) world = undefined
  if (report) port.postMessage(report.outcome || report.output.length > 0 ? report : report.calls)
}

/** The next message, if it comes at once. */
function look() {
  if (!world) return undefined
  if (rest > 0) {
    rest--
    return undefined
  }
  const until = performance.now() + LOOK_MS
  do {
    const next = receiveMessageOnPort(port)
    if (next) return next.message
  } while (performance.now() < until)
  rest = REST
  return undefined
}

port.on('message', (first) => {
  for (let message = first; message !== undefined; message = look()) handle(message)
})
// The port listens before the engine is loaded: a worker that has nothing to wait for waits for the compilers of all threads,
// and several that start at once wait for each other for ever.
await loadEngine()
port.postMessage('ready')
