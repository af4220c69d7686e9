/** Owns one open session: append, folds, history, blobs, subscribers. */
import { createHash } from 'node:crypto'
import { assert, type Json, messageOf, type World } from '@sluice/base'
import { Blobs } from './blobs.ts'
import { encodeState, type SessionState } from './checkpoint.ts'
import { sessionErrors } from './errors.ts'
import { FoldStates } from './fold-states.ts'
import { takeOut } from './large-values.ts'
import { History } from './messages.ts'
import { Subscribers } from './subscribers.ts'
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

/** A checkpoint is kept at the end of a turn after so many events. Not at the close: by then the plugins of a host are gone,
 *  and their folds with them. */
export const CHECKPOINT_EVENTS = 250

export interface SessionParts {
  readonly id: string
  readonly cwd: string
  readonly log: SessionLog
  readonly events: readonly SessionEvent[]
  readonly findings: readonly LogFinding[]
  /** Why nothing can be appended, if so. */
  readonly readOnly: string | undefined
  /** What came before `events`, when they are not all. */
  readonly resumed: { readonly seq: number; readonly state: SessionState } | undefined
}

/** What all sessions of one service share. */
export interface SessionHome {
  readonly clock: World['clock']
  readonly vocabulary: Vocabulary
  readonly inlineBytesMax: number
  readonly registeredFolds: () => Iterable<Fold<unknown>>
  /** Told of what a subscriber throws, and of checkpoints that could not be kept. */
  readonly onError: (error: unknown) => void
  readonly onClose: (session: LiveSession) => void
}

export class LiveSession implements Session {
  readonly id: string
  readonly cwd: string
  readonly findings: readonly LogFinding[]
  readonly firstSeq: number
  private readonly list: SessionEvent[]
  private readonly log: SessionLog
  private readonly home: SessionHome
  private readOnly: string | undefined
  private readonly history: History
  private historyNext = 0
  private readonly folds: FoldStates
  private readonly subscribers: Subscribers
  private readonly blobs: Blobs
  private checkpointed: number
  private readonly closers = new Set<() => void | Promise<void>>()
  private closing: Promise<void> | undefined

  constructor(parts: SessionParts, home: SessionHome) {
    const { resumed } = parts
    this.home = home
    this.id = parts.id
    this.cwd = parts.cwd
    this.log = parts.log
    this.findings = parts.findings
    this.readOnly = parts.readOnly
    this.list = [...parts.events]
    this.firstSeq = resumed === undefined ? 0 : resumed.seq + 1
    this.history = resumed === undefined ? new History() : History.from(resumed.state.history)
    this.folds = new FoldStates(this.list, resumed?.state.folds)
    this.subscribers = new Subscribers(home.onError)
    this.blobs = new Blobs(parts.log)
    this.checkpointed = this.firstSeq
  }

  get events(): readonly SessionEvent[] {
    return this.list
  }

  get writable(): boolean {
    return this.readOnly === undefined
  }

  /** Seq of the next event. */
  private get next(): number {
    return this.firstSeq + this.list.length
  }

  append<T extends SessionEventType>(type: T, data: SessionEventMap[T], options?: { cause?: number }): SessionEvent<T>
  append(type: string, data: unknown, options?: { cause?: number }): SessionEvent
  append(type: string, data: unknown, options?: { cause?: number }): SessionEvent {
    this.assertWritable()
    this.subscribers.assertNoLoop(type)
    const { data: admitted, optional } = this.home.vocabulary.admit(type, data)
    const large = takeOut(type, admitted, this.home.inlineBytesMax)
    if (!large) return this.add(type, admitted, optional, options?.cause)
    const { digest } = large.blob
    const known = this.blobs.has(digest)
    this.blobs.owe(digest, large.bytes)
    if (!known) this.append('blob/stored', { blob: large.blob, mediaType: 'application/json' })
    return this.add(type, large.data, optional, options?.cause)
  }

  private add(type: string, data: Json, optional: boolean, cause: number | undefined): SessionEvent {
    const seq = this.next
    assert(cause === undefined || (Number.isInteger(cause) && cause >= 0 && cause < seq), 'cause is an earlier event')
    const plain: SessionEvent = { seq, at: this.home.clock.now(), type, data }
    const event = Object.freeze(
      cause === undefined && !optional
        ? plain
        : { ...plain, ...(cause !== undefined && { cause }), ...(optional && { optional }) },
    )
    this.log.write(event)
    this.list.push(event)
    this.subscribers.announce(event)
    if (type === 'turn/ended' && this.next - this.checkpointed >= CHECKPOINT_EVENTS) void this.keepCheckpoint()
    return event
  }

  private assertWritable(): void {
    if (this.readOnly !== undefined) throw sessionErrors('SESSION_READ_ONLY', { id: this.id, why: this.readOnly })
  }

  durable(seq = this.next - 1): Promise<void> {
    const { log, blobs } = this
    const done = blobs.settled ? log.durable(seq) : blobs.settle().then(() => log.durable(seq))
    return done.then(undefined, (error: unknown) => {
      const problem = messageOf(error)
      throw sessionErrors('SESSION_NOT_DURABLE', { id: this.id, seq, problem }, { cause: error })
    })
  }

  fold<S>(fold: Fold<S>): S {
    const found = this.folds.get(fold)
    if (!found) throw sessionErrors('SESSION_FOLD_NOT_KEPT', { id: this.id, fold: fold.name })
    return found.state
  }

  messages(): readonly Message[] {
    const { list, history } = this
    for (; this.historyNext < list.length; this.historyNext++) history.push(list[this.historyNext] as SessionEvent)
    return history.messages
  }

  subscribe(listener: (event: SessionEvent) => void): () => void {
    return this.subscribers.add(listener)
  }

  async putBlob(
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    info: { mediaType: string; name?: string },
  ): Promise<BlobRef> {
    this.assertWritable()
    // The bytes come first, so that an event never names a blob that is not there.
    const { blob, known } = bytes instanceof Uint8Array ? await this.putWhole(bytes) : await this.blobs.stream(bytes)
    if (!known) this.append('blob/stored', { blob, ...info })
    return blob
  }

  private async putWhole(bytes: Uint8Array): Promise<{ blob: BlobRef; known: boolean }> {
    // A copy, because the caller may go on using its own.
    const own = new Uint8Array(bytes)
    const blob = { digest: createHash('sha256').update(own).digest('hex'), size: own.length }
    const known = this.blobs.has(blob.digest)
    await this.blobs.put(blob.digest, own)
    return { blob, known }
  }

  /** Takes over blobs of another session that this one's events name. One that is gone stays gone. */
  async share(from: string, digests: Iterable<string>): Promise<void> {
    for (const digest of digests) await this.log.shareBlob(from, digest)
  }

  getBlob(ref: BlobRef): Promise<Uint8Array | undefined> {
    return this.log.getBlob(ref.digest)
  }

  /** Keeps the state of now; a later one may be kept before. Never rejects. */
  private async keepCheckpoint(): Promise<void> {
    if (!this.log.keepCheckpoint) return
    const seq = this.next - 1
    this.messages()
    const history = this.history.snapshot()
    if (!history) return
    this.checkpointed = this.next
    try {
      const folds = [...this.home.registeredFolds()].map((fold) => {
        const state = this.fold(fold)
        return { name: fold.name, version: fold.version, state: fold.save ? fold.save(state) : (state as Json) }
      })
      const state = encodeState({ cwd: this.cwd, types: this.home.vocabulary.binding(), history, folds })
      if (state === undefined) return
      await this.log.keepCheckpoint({ seq, state })
    } catch (error) {
      this.home.onError(error)
    }
  }

  onClosing(work: () => void | Promise<void>): () => void {
    this.closers.add(work)
    return () => void this.closers.delete(work)
  }

  close(): Promise<void> {
    return (this.closing ??= this.shut())
  }

  private async shut(): Promise<void> {
    try {
      await this.runClosers()
      // Blobs on their way still append their events.
      await this.blobs.idle()
      const wasWritable = this.readOnly === undefined
      this.readOnly ??= 'it is closed'
      if (wasWritable && this.list.length > 0) await this.durable()
    } finally {
      this.subscribers.clear()
      this.home.onClose(this)
      await this.log.close()
    }
  }

  /** One that fails keeps no other from running, and not the log from being released. */
  private async runClosers(): Promise<void> {
    const results = await Promise.allSettled([...this.closers].map(async (work) => work()))
    for (const result of results) if (result.status === 'rejected') this.home.onError(result.reason)
  }
}
