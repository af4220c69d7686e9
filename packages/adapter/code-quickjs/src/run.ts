/** Owns one run: what crosses between host and worker. */
import { type Json, messageOf } from '@sluice/base'
import type { CodeFailureKind, CodeOutcome, CodeReply, CodeRequest, CodeRun } from '@sluice/code-mode'
import { WallClock, Watch } from './clocks.ts'
import type { Pool } from './pool.ts'
import type { FromWorker, Thread, WorkerOutcome, WorkerReport } from './thread.ts'

/** Beyond the active limit, for a worker that does not notice by itself. */
const SLACK_MS = 250

type Entry = readonly [number: number, binding: number, args: Json]
type Made =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: CodeFailureKind; readonly message: string; readonly line?: number }
type Ending = { readonly kind: Exclude<CodeFailureKind, 'memory'>; readonly message: string }

/** The index of a sleep. */
const SLEEP = -1

export class QuickRun implements CodeRun {
  readonly outcome: Promise<CodeOutcome>
  private readonly request: CodeRequest
  private readonly pool: Pool
  private readonly wall: WallClock
  private readonly watch: Watch
  private readonly sleeps = new Set<NodeJS.Timeout>()
  private thread: Thread | undefined
  private resolve!: (outcome: CodeOutcome) => void
  private over = false
  private calls = 0
  /** Calls and sleeps. */
  private asked = 0
  /** Characters of replies. */
  private crossed = 0
  private output: string[] = []
  /** Messages of the worker that have not been looked at. */
  private readonly heard: WorkerReport[] = []
  private replies: unknown[] = []

  constructor(pool: Pool, request: CodeRequest) {
    this.pool = pool
    this.request = request
    const { activeMs, wallMs } = request.limits
    this.wall = new WallClock(wallMs, () => this.end({ kind: 'timeout', message: `it took longer than ${wallMs} ms` }))
    this.watch = new Watch(activeMs + SLACK_MS, () =>
      this.end({ kind: 'timeout', message: `it computed for more than ${activeMs} ms` }),
    )
    this.outcome = new Promise((resolve) => (this.resolve = resolve))
    request.signal.addEventListener('abort', this.abort, { once: true })
    if (request.signal.aborted) this.abort()
    else void this.start()
  }

  pause(): void {
    this.wall.pause()
  }

  resume(): void {
    this.wall.resume()
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
      this.wall.start()
      const { program, bindings, limits } = this.request
      this.send({ program, bindings, limits })
    } catch (error) {
      this.end({ kind: 'crash', message: String(error) })
    }
  }

  /** From here until the worker answers, the program computes. */
  private send(message: object | string): void {
    this.watch.sent()
    this.thread?.send(message)
  }

  private hear(message: FromWorker): void {
    if (this.over) return
    const report = typeof message === 'string' ? { calls: message } : message
    if (!report.more) this.watch.answered()
    // Answers come one for one. What comes without being asked for waits for its turn, and everything after it too.
    if (!report.more && this.heard.length === 0) this.take(report)
    else if (this.heard.push(report) === 1) setImmediate(this.takeOne)
  }

  /** One in a turn of the event loop: a program with many calls leaves time for others. */
  private readonly takeOne = (): void => {
    if (this.over) return
    this.take(this.heard[0] as WorkerReport)
    this.heard.shift()
    if (this.heard.length > 0) setImmediate(this.takeOne)
  }

  private take({ calls, output, outcome, reusable = false }: WorkerReport): void {
    try {
      if (calls !== '') for (const entry of JSON.parse(`[${calls}]`) as Entry[]) this.make(entry)
      if (output) this.output = this.output.concat(output)
      if (outcome) this.finish(outcomeOf(outcome), reusable)
    } catch (error) {
      // What a worker sends is never a reason for the host to fail.
      this.end({ kind: 'crash', message: messageOf(error) })
    }
  }

  /** A program may have got at what its world sends: nothing is believed of it. */
  private make([number, index, args]: Entry): void {
    if (this.over) return
    const { bindings, limits } = this.request
    if (++this.asked > limits.callsMax)
      return this.end({ kind: 'exception', message: `it made more than ${limits.callsMax} calls` })
    if (index === SLEEP) return this.sleep(number, Number(args))
    const binding = typeof index === 'number' ? bindings[index] : undefined
    if (binding === undefined) throw new Error(`it has no binding ${String(index)}`)
    this.calls++
    const failed = (error: unknown) => {
      const reason = messageOf(error)
      this.settled(number, { ok: false, code: 'CODE_CALL_FAILED', tool: binding, reason, executed: 'unknown' })
    }
    try {
      this.request.call(binding, args).then((reply) => this.settled(number, reply), failed)
    } catch (error) {
      failed(error)
    }
  }

  private sleep(number: number, ms: number): void {
    const timer = setTimeout(() => {
      this.sleeps.delete(timer)
      this.settled(number, { ok: true, value: null })
    }, ms)
    this.sleeps.add(timer)
  }

  /** Replies that come together go in one message. */
  private settled(number: number, reply: CodeReply): void {
    if (this.over) return
    if (this.replies.length === 0) process.nextTick(this.flush)
    this.replies.push(reply.ok ? [number, reply.value] : [number, null, reply])
  }

  private readonly flush = (): void => {
    if (this.over) return
    const { replies } = this
    const { transferBytes } = this.request.limits
    this.replies = []
    try {
      const texts: string[] = []
      // Counted before they are joined: together they may be more than a string holds.
      for (const reply of replies) {
        const text = JSON.stringify(reply)
        texts.push(text)
        this.crossed += text.length
        if (this.crossed > transferBytes) {
          const message = `more than ${transferBytes} bytes crossed the border of the program`
          return this.end({ kind: 'output', message })
        }
      }
      this.send(`[${texts.join(',')}]`)
    } catch (error) {
      // Thrown from here it would end the host.
      this.end({ kind: 'crash', message: `an answer cannot be sent: ${messageOf(error)}` })
    }
  }

  private finish(made: Made, reusable: boolean): void {
    const { output, calls } = this
    const thread = this.close()
    if (thread) this.pool.give(thread, reusable)
    this.resolve({ ...made, output, calls })
  }

  /** Ends the program from outside: its thread is not used again. */
  private end(why: Ending): void {
    if (!this.over) this.finish(why, false)
  }

  private close(): Thread | undefined {
    this.over = true
    this.wall.end()
    this.watch.end()
    for (const timer of this.sleeps) clearTimeout(timer)
    this.request.signal.removeEventListener('abort', this.abort)
    this.thread?.letGo()
    return this.thread
  }
}

function outcomeOf({ kind, json, message = '', line }: WorkerOutcome): Made {
  if (kind === 'value') return { kind, value: JSON.parse(json ?? 'null') as Json }
  return { kind: kind as CodeFailureKind, message, ...(line !== undefined && { line }) }
}
