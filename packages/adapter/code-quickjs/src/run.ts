/** Owns one run: what crosses between host and worker, and the clocks that end a program from outside. */
import type { CodeOutcome, CodeReply, CodeRequest, CodeRun } from '@sluice/code-mode'
import type { Json } from '@sluice/base'
import type { Pool } from './pool.ts'
import type { FromWorker, Thread, WorkerCall, WorkerOutcome } from './thread.ts'

/** Beyond the active limit, for a worker that does not notice by itself. */
const SLACK_MS = 250

let runs = 0

export class QuickRun implements CodeRun {
  readonly outcome: Promise<CodeOutcome>
  private readonly request: CodeRequest
  private readonly pool: Pool
  private readonly id = ++runs
  private thread: Thread | undefined
  private resolve!: (outcome: CodeOutcome) => void
  private over = false
  private made = 0
  private replies: object[] = []
  private flushing = false
  private pauses = 0
  private wallLeft: number
  private wallSince = 0
  private wallTimer: NodeJS.Timeout | undefined
  private activeTimer: NodeJS.Timeout | undefined

  constructor(pool: Pool, request: CodeRequest) {
    this.pool = pool
    this.request = request
    this.wallLeft = request.limits.wallMs
    this.outcome = new Promise((resolve) => (this.resolve = resolve))
    request.signal.addEventListener('abort', this.abort, { once: true })
    if (request.signal.aborted) this.abort()
    else void this.start()
  }

  pause(): void {
    if (this.pauses++ > 0) return
    clearTimeout(this.wallTimer)
    this.wallLeft -= performance.now() - this.wallSince
  }

  resume(): void {
    if (this.pauses === 0 || --this.pauses > 0 || this.over || !this.thread) return
    this.startWall()
  }

  private readonly abort = () => this.end({ kind: 'abort', message: 'the run was stopped' })

  private async start(): Promise<void> {
    try {
      const thread = await this.pool.take()
      if (this.over) return this.pool.give(thread, true)
      this.thread = thread
      thread.listener = {
        message: (message) => this.hear(message),
        died: (problem) => this.end({ kind: 'crash', message: problem }),
      }
      thread.hold()
      if (this.pauses === 0) this.startWall()
      const { program, bindings, limits } = this.request
      this.send({ type: 'run', run: this.id, program, bindings, limits })
    } catch (error) {
      this.end({ kind: 'crash', message: String(error) })
    }
  }

  private startWall(): void {
    this.wallSince = performance.now()
    const late = () => this.end({ kind: 'timeout', message: `it took longer than ${this.request.limits.wallMs} ms` })
    this.wallTimer = setTimeout(late, Math.max(0, this.wallLeft))
  }

  /** From here until the worker answers, the program computes. */
  private send(message: object): void {
    clearTimeout(this.activeTimer)
    const { activeMs } = this.request.limits
    const stuck = () => this.end({ kind: 'timeout', message: `it computed for more than ${activeMs} ms` })
    this.activeTimer = setTimeout(stuck, activeMs + SLACK_MS)
    this.thread?.send(message)
  }

  private hear(message: Exclude<FromWorker, { type: 'ready' }>): void {
    if (this.over || message.run !== this.id) return
    clearTimeout(this.activeTimer)
    for (const call of message.calls) this.make(call)
    if (message.type === 'done') this.finish(message.outcome, message.reusable)
  }

  private make({ id, binding, json }: WorkerCall): void {
    this.made++
    const settled = (reply: CodeReply) => {
      this.replies.push({ id, ...reply })
      this.flushSoon()
    }
    const failed = (error: unknown) =>
      settled({ ok: false, code: 'CODE_CALL_FAILED', tool: binding, reason: String(error), executed: 'unknown' })
    this.request.call(binding, JSON.parse(json) as Json).then(settled, failed)
  }

  /** Replies of one turn of the event loop go in one message. */
  private flushSoon(): void {
    if (this.flushing) return
    this.flushing = true
    setImmediate(() => {
      this.flushing = false
      if (this.over) return
      const { replies } = this
      this.replies = []
      this.send({ type: 'settle', run: this.id, replies })
    })
  }

  private finish(made: WorkerOutcome, reusable: boolean): void {
    const { kind, json, message = '', line, output, calls, activeMs } = made
    const counts = { output, calls, activeMs }
    const thread = this.close()
    if (thread) this.pool.give(thread, reusable)
    if (kind === 'value') this.resolve({ kind, value: JSON.parse(json ?? 'null') as Json, ...counts })
    else this.resolve({ kind: kind as 'exception', message, ...(line !== undefined && { line }), ...counts })
  }

  /** Ends the program from outside: its thread is not used again. */
  private end(why: { readonly kind: 'abort' | 'timeout' | 'crash'; readonly message: string }): void {
    if (this.over) return
    const thread = this.close()
    if (thread) this.pool.give(thread, false)
    this.resolve({ ...why, output: [], calls: this.made, activeMs: 0 })
  }

  private close(): Thread | undefined {
    this.over = true
    clearTimeout(this.wallTimer)
    clearTimeout(this.activeTimer)
    this.request.signal.removeEventListener('abort', this.abort)
    this.thread?.letGo()
    return this.thread
  }
}
