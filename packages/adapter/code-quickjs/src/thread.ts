/** Owns one worker thread: it runs one program at a time, and is ended when it does not answer. */
import { Worker } from 'node:worker_threads'

export interface WorkerCall {
  readonly id: number
  readonly binding: string
  readonly json: string
}

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'idle'; readonly run: number; readonly calls: readonly WorkerCall[] }
  | {
      readonly type: 'done'
      readonly run: number
      readonly calls: readonly WorkerCall[]
      readonly outcome: WorkerOutcome
      readonly reusable: boolean
    }

export interface WorkerOutcome {
  readonly kind: string
  readonly json?: string
  readonly message?: string
  readonly line?: number
  readonly output: readonly string[]
  readonly calls: number
  readonly activeMs: number
}

export interface ThreadListener {
  message(message: Exclude<FromWorker, { type: 'ready' }>): void
  /** The thread is gone without having been asked to go. */
  died(problem: string): void
}

/** Heap of the thread itself; the program's memory is bounded by its world. */
const HEAP_MB_MAX = 512

export class Thread {
  readonly ready: Promise<void>
  listener: ThreadListener | undefined
  alive = true
  private readonly worker: Worker

  constructor() {
    // Nothing of the host's environment, arguments or output is given to it.
    this.worker = new Worker(new URL('./worker.mjs', import.meta.url), {
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX, stackSizeMb: 16 },
    })
    this.worker.unref()
    this.ready = new Promise((resolve, reject) => {
      const lost = (problem: string) => {
        this.alive = false
        reject(new Error(problem))
        this.listener?.died(problem)
      }
      this.worker.on('message', (message: FromWorker) => {
        if (message.type === 'ready') resolve()
        else this.listener?.message(message)
      })
      this.worker.on('error', (error) => lost(error.message))
      this.worker.on('exit', (code) => lost(`the worker ended with code ${code}`))
    })
    this.ready.catch(() => {})
  }

  send(message: object): void {
    this.worker.postMessage(message)
  }

  /** Keeps the host alive while a program runs. */
  hold(): void {
    this.worker.ref()
  }

  letGo(): void {
    this.worker.unref()
  }

  /** A program that runs in it fails. */
  async end(): Promise<void> {
    this.alive = false
    this.listener?.died('the runtime was ended')
    this.listener = undefined
    await this.worker.terminate()
  }
}
