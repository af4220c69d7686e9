/** Owns one live agent: what waits for it, and its turns one after another. */
import type { StreamPart } from '@sluice/llm'
import { messageOf } from '@sluice/base'
import { type Driver, notify } from './driver.ts'
import { TurnAbort } from './ending.ts'
import { agentErrors } from './errors.ts'
import { runTurn } from './turn.ts'
import type { Agent, TurnResult } from './types.ts'

const CLOSED = 'the agent was closed'

type PieceListener = (piece: StreamPart, step: number) => void

export class LiveAgent implements Agent {
  readonly name: string
  readonly session: Driver['session']
  readonly model: string
  private readonly driver: Driver
  private readonly listeners = new Set<PieceListener>()
  private readonly onClosed: () => void
  private running: { readonly abort: AbortController; readonly ended: Promise<TurnResult> } | undefined
  private driving = false
  private closing: Promise<void> | undefined

  constructor(driver: Omit<Driver, 'piece'>, onClosed: () => void) {
    this.name = driver.name
    this.session = driver.session
    this.model = driver.model
    this.onClosed = onClosed
    this.driver = { ...driver, piece: (piece, step) => this.tell(piece, step) }
  }

  get busy(): boolean {
    return this.running !== undefined
  }

  async send(text: string, source = 'user'): Promise<TurnResult> {
    this.assertOpen()
    return new Promise((resolve, reject) => {
      try {
        this.driver.inbox.prompts.push({ text, source, settle: resolve })
        this.wake()
      } catch (error) {
        reject(error as Error)
      }
    })
  }

  steer(text: string, source = 'user'): void {
    this.assertOpen()
    this.driver.inbox.steering.push({ text, source })
    this.wake()
  }

  inject(text: string, source: string): void {
    this.assertOpen()
    this.driver.inbox.contexts.push({ text, source })
    this.changed()
  }

  async abort(reason = 'the user stopped the turn'): Promise<void> {
    const { running } = this
    running?.abort.abort(new TurnAbort('aborted', reason))
    await running?.ended
  }

  onPiece(listener: PieceListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  close(): Promise<void> {
    return (this.closing ??= this.shut())
  }

  private async shut(): Promise<void> {
    for (const prompt of this.driver.inbox.prompts.drain()) {
      prompt.settle({ turn: 0, reason: 'aborted', detail: CLOSED, text: '', denied: [] })
    }
    await this.abort(CLOSED)
    this.onClosed()
  }

  private assertOpen(): void {
    if (this.closing) throw agentErrors('AGENT_CLOSED', { name: this.name })
  }

  private wake(): void {
    this.changed()
    if (this.driving) return
    this.driving = true
    void this.drive()
  }

  private changed(): void {
    notify(this.driver, 'agent/inbox-changed', this.name, this.driver.inbox.size)
  }

  /** Plays turns until nothing waits. Input that arrives while a turn winds down starts the next one. */
  private async drive(): Promise<void> {
    for (;;) {
      const prompt = this.closing ? undefined : this.driver.inbox.claim()
      if (prompt === undefined) break
      const abort = new AbortController()
      // A listener of the start already finds the turn running, so that it can abort it.
      const ended = Promise.resolve().then(() => runTurn(this.driver, prompt, abort))
      this.running = { abort, ended }
      const result = await ended
      this.running = undefined
      prompt.settle(result)
    }
    this.driving = false
  }

  private tell(piece: StreamPart, step: number): void {
    for (const listener of this.listeners) {
      try {
        listener(piece, step)
      } catch (error) {
        this.driver.ctx.logger.warn('a listener of live pieces failed: %s', messageOf(error))
      }
    }
  }
}
