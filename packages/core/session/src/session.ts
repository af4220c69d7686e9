/** Owns one open session: append, folds, history, blobs, subscribers. */
import { createHash } from 'node:crypto'
import { assert, messageOf, type World } from '@sluice/base'
import { sessionErrors } from './errors.ts'
import { History } from './messages.ts'
import type {
  BlobRef,
  Fold,
  LogFinding,
  Message,
  Session,
  SessionEvent,
  SessionEventMap,
  SessionEventType,
  SessionLog,
} from './types.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Events that listeners may append in answer to one append before that counts as a loop. */
export const ANSWERS_MAX = 10_000

export interface SessionParts {
  readonly id: string
  readonly cwd: string
  readonly log: SessionLog
  readonly events: readonly SessionEvent[]
  readonly findings: readonly LogFinding[]
  /** Why nothing can be appended, if so. */
  readonly readOnly: string | undefined
  readonly clock: World['clock']
  readonly vocabulary: Vocabulary
  /** Told of what a subscriber throws. */
  readonly onError: (error: unknown) => void
  readonly onClose: (session: LiveSession) => void
}

interface Subscriber {
  readonly listener: (event: SessionEvent) => void
  active: boolean
}

interface FoldState {
  state: unknown
  next: number
}

export class LiveSession implements Session {
  readonly id: string
  readonly cwd: string
  readonly findings: readonly LogFinding[]
  private readonly list: SessionEvent[]
  private readonly parts: SessionParts
  private readOnly: string | undefined
  private readonly history = new History()
  private historyNext = 0
  private readonly folds = new Map<Fold<unknown>, FoldState>()
  /** Replaced, never changed: one that is being walked stays as it is. */
  private listeners: readonly Subscriber[] = []
  private readonly queue: SessionEvent[] = []
  private announcing = false
  private readonly blobs = new Map<string, Promise<void>>()
  private closing: Promise<void> | undefined

  constructor(parts: SessionParts) {
    this.parts = parts
    this.id = parts.id
    this.cwd = parts.cwd
    this.findings = parts.findings
    this.list = [...parts.events]
    this.readOnly = parts.readOnly
  }

  get events(): readonly SessionEvent[] {
    return this.list
  }

  get writable(): boolean {
    return this.readOnly === undefined
  }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], options?: { cause?: number }): SessionEvent<T>
  append(type: string, data: unknown, options?: { cause?: number }): SessionEvent
  append(type: string, data: unknown, options?: { cause?: number }): SessionEvent {
    if (this.readOnly !== undefined) throw sessionErrors('SESSION_READ_ONLY', { id: this.id, why: this.readOnly })
    assert(this.queue.length < ANSWERS_MAX, `listeners of a session answer events with events without end (${type})`)
    const admitted = this.parts.vocabulary.admit(type, data)
    const cause = options?.cause
    assert(
      cause === undefined || (Number.isInteger(cause) && cause >= 0 && cause < this.list.length),
      'cause is an earlier event',
    )
    const event: SessionEvent = Object.freeze({
      seq: this.list.length,
      at: this.parts.clock.now(),
      type,
      data: admitted.data,
      ...(cause === undefined ? undefined : { cause }),
      ...(admitted.optional ? { optional: true as const } : undefined),
    })
    this.parts.log.write(event, JSON.stringify(event))
    this.list.push(event)
    this.announce(event)
    return event
  }

  /** Listeners see events in order: one appended inside a listener is announced after the running one. */
  private announce(event: SessionEvent): void {
    if (this.listeners.length === 0) return
    this.queue.push(event)
    if (this.announcing) return
    this.announcing = true
    try {
      for (let next = this.queue[0], at = 0; next; next = this.queue[++at]) this.tell(next)
    } finally {
      this.queue.length = 0
      this.announcing = false
    }
  }

  private tell(event: SessionEvent): void {
    for (const subscriber of this.listeners) {
      if (!subscriber.active) continue
      try {
        subscriber.listener(event)
      } catch (error) {
        this.parts.onError(error)
      }
    }
  }

  async durable(seq = this.list.length - 1): Promise<void> {
    try {
      await this.parts.log.durable(seq)
    } catch (error) {
      const problem = messageOf(error)
      throw sessionErrors('SESSION_NOT_DURABLE', { id: this.id, seq, problem }, { cause: error })
    }
  }

  fold<S>(fold: Fold<S>): S {
    const key = fold as Fold<unknown>
    let entry = this.folds.get(key)
    if (!entry) this.folds.set(key, (entry = { state: fold.initial, next: 0 }))
    const { list } = this
    let state = entry.state as S
    for (; entry.next < list.length; entry.next++) state = fold.step(state, list[entry.next] as SessionEvent)
    entry.state = state
    return state
  }

  messages(): readonly Message[] {
    const { list, history } = this
    for (; this.historyNext < list.length; this.historyNext++) history.push(list[this.historyNext] as SessionEvent)
    return history.messages
  }

  subscribe(listener: (event: SessionEvent) => void): () => void {
    const own: Subscriber = { listener, active: true }
    this.listeners = [...this.listeners, own]
    return () => {
      own.active = false
      this.listeners = this.listeners.filter((other) => other !== own)
    }
  }

  async putBlob(bytes: Uint8Array, info: { mediaType: string; name?: string }): Promise<BlobRef> {
    if (this.readOnly !== undefined) throw sessionErrors('SESSION_READ_ONLY', { id: this.id, why: this.readOnly })
    const blob = { digest: createHash('sha256').update(bytes).digest('hex'), size: bytes.length }
    // The bytes come first, so that an event never names a blob that is not there.
    let stored = this.blobs.get(blob.digest)
    if (!stored) {
      stored = this.parts.log.putBlob(blob.digest, bytes).then(() => void this.append('blob/stored', { blob, ...info }))
      this.blobs.set(blob.digest, stored)
      stored.catch(() => this.blobs.delete(blob.digest))
    }
    await stored
    return blob
  }

  getBlob(ref: BlobRef): Promise<Uint8Array | undefined> {
    return this.parts.log.getBlob(ref.digest)
  }

  close(): Promise<void> {
    return (this.closing ??= this.shut())
  }

  private async shut(): Promise<void> {
    try {
      // Blobs on their way still append their events.
      await Promise.allSettled(this.blobs.values())
      const written = this.readOnly === undefined && this.list.length > 0
      this.readOnly ??= 'it is closed'
      if (written) await this.durable()
    } finally {
      this.listeners = []
      this.parts.onClose(this)
      await this.parts.log.close()
    }
  }
}
