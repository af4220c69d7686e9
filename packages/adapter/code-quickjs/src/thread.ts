/** Owns one worker thread: it runs one program at a time, and is ended when it does not answer. */
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'

/** Calls, as `[number, index of the binding, arguments],…`. Each message is the answer to one message from the host, except those
 *  with `more`. */
export type FromWorker = string | WorkerReport

export interface WorkerReport {
  readonly calls: string
  readonly more?: true
  readonly output?: readonly string[]
  readonly outcome?: WorkerOutcome
  readonly reusable?: boolean
}

export interface WorkerOutcome {
  readonly kind: string
  readonly json?: string
  readonly message?: string
  readonly line?: number
}

export interface ThreadListener {
  message(message: FromWorker): void
  /** The thread is gone without having been asked to go. */
  died(problem: string): void
}

/** Heap of the thread itself; the program's memory is bounded by its world. */
const HEAP_MB_MAX = 512
/** How long a thread may take to start. */
const START_MS_MAX = 30_000
/** How long an answer is looked for in each turn of the event loop: waking up takes longer than a fast answer. */
const LOOK_MS = 0.1
/** For how many messages nothing is looked for after that was in vain. */
const REST = 100

export class Thread {
  readonly ready: Promise<void>
  listener: ThreadListener | undefined
  alive = true
  private readonly worker: Worker
  private readonly port
  private sentAt = 0
  private looking = false
  private rest = 0

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.port = port1
    // Nothing of the host's environment, arguments or output is given to it.
    this.worker = new Worker(new URL('./worker.mjs', import.meta.url), {
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      workerData: { port: port2 },
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, stackSizeMb: 16 },
    })
    this.ready = new Promise((resolve, reject) => {
      const lost = (problem: string) => {
        clearTimeout(slow)
        this.alive = false
        reject(new Error(problem))
        this.listener?.died(problem)
      }
      const slow = setTimeout(() => lost('the worker did not start'), START_MS_MAX)
      port1.once('message', () => {
        clearTimeout(slow)
        port1.on('message', this.hear)
        this.letGo()
        resolve()
      })
      this.worker.on('error', (error) => lost(error.message))
      this.worker.on('exit', (code) => lost(`the worker ended with code ${code}`))
    })
    this.ready.catch(() => {})
  }

  send(message: object | string): void {
    this.port.postMessage(message)
    this.sentAt = performance.now()
    // A start takes longer than is worth looking.
    if (typeof message !== 'string') return
    if (this.rest > 0) this.rest--
    else this.look()
  }

  /** Keeps the host alive while a program runs. */
  hold(): void {
    this.worker.ref()
    this.port.ref()
  }

  letGo(): void {
    this.worker.unref()
    this.port.unref()
  }

  /** A program that runs in it fails. */
  async end(): Promise<void> {
    this.alive = false
    this.listener?.died('the runtime was ended')
    this.listener = undefined
    this.port.close()
    await this.worker.terminate()
  }

  private readonly hear = (message: FromWorker): void => {
    this.listener?.message(message)
  }

  /** The event loop goes on turning meanwhile. */
  private look(): void {
    if (this.looking) return
    this.looking = true
    setImmediate(() => {
      this.looking = false
      if (!this.listener) return
      const next = receiveMessageOnPort(this.port) as { message: FromWorker } | undefined
      if (next) this.hear(next.message)
      else if (performance.now() - this.sentAt < LOOK_MS) this.look()
      else this.rest = REST
    })
  }
}
