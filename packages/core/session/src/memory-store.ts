/** Owns a store that keeps sessions in memory only. */
import { createHash } from 'node:crypto'
import { sessionErrors } from './errors.ts'
import type {
  BlobRef,
  BlobState,
  LogFinding,
  LogHolder,
  OpenedLog,
  RepairedLog,
  SessionEvent,
  SessionLog,
  SessionStore,
  SessionSummary,
} from './types.ts'

interface Kept {
  readonly events: SessionEvent[]
  readonly blobs: Map<string, Uint8Array>
  writer: MemoryLog | undefined
}

class MemoryLog implements SessionLog {
  private readonly sessions: ReadonlyMap<string, Kept>
  private readonly kept: Kept

  constructor(sessions: ReadonlyMap<string, Kept>, kept: Kept) {
    this.sessions = sessions
    this.kept = kept
  }

  write(event: SessionEvent): void {
    this.kept.events.push(event)
  }

  durable(): Promise<void> {
    return Promise.resolve()
  }

  putBlob(digest: string, bytes: Uint8Array): Promise<void> {
    // Not slice(): that of a Buffer is no copy.
    this.kept.blobs.set(digest, new Uint8Array(bytes))
    return Promise.resolve()
  }

  async streamBlob(pieces: AsyncIterable<Uint8Array>): Promise<BlobRef> {
    const all: Uint8Array[] = []
    for await (const piece of pieces) all.push(piece)
    const bytes = Buffer.concat(all)
    const digest = createHash('sha256').update(bytes).digest('hex')
    await this.putBlob(digest, bytes)
    return { digest, size: bytes.length }
  }

  getBlob(digest: string): Promise<Uint8Array | undefined> {
    const bytes = this.kept.blobs.get(digest)
    return Promise.resolve(bytes && new Uint8Array(bytes))
  }

  shareBlob(from: string, digest: string): Promise<boolean> {
    const bytes = this.sessions.get(from)?.blobs.get(digest)
    if (bytes) this.kept.blobs.set(digest, bytes)
    return Promise.resolve(bytes !== undefined)
  }

  close(): Promise<void> {
    if (this.kept.writer === this) this.kept.writer = undefined
    return Promise.resolve()
  }
}

/** Only this process can hold a session that is in its memory. */
const own: LogHolder = { pid: 0, host: 'this process', token: '' }

/** Sessions live as long as the store does. One writer per session, as everywhere. */
class MemoryStore implements SessionStore {
  readonly kind = 'memory'
  private readonly sessions = new Map<string, Kept>()

  create(id: string): Promise<SessionLog> {
    const there = this.sessions.get(id)
    if (there && (there.writer || there.events.length > 0)) {
      return Promise.reject(sessionErrors('SESSION_EXISTS', { id }))
    }
    const kept: Kept = { events: [], blobs: new Map(), writer: undefined }
    kept.writer = new MemoryLog(this.sessions, kept)
    this.sessions.set(id, kept)
    return Promise.resolve(kept.writer)
  }

  async open(id: string, mode: 'write' | 'read'): Promise<OpenedLog> {
    const kept = this.find(id)
    if (mode === 'write') this.refuseIfHeld(id, kept)
    const log = new MemoryLog(this.sessions, kept)
    if (mode === 'write') kept.writer = log
    return { log, events: [...kept.events], findings: [], writable: mode === 'write' }
  }

  async scan(id: string, visit: (event: SessionEvent, line: number) => void): Promise<readonly LogFinding[]> {
    for (const event of this.find(id).events.slice()) visit(event, event.seq + 1)
    return []
  }

  list(): Promise<SessionSummary[]> {
    const summaries = [...this.sessions.values()].flatMap(({ events }) => {
      const [first] = events
      if (first?.type !== 'session/started') return []
      const { id, cwd } = (first as SessionEvent<'session/started'>).data
      const { seq, at } = events.at(-1) ?? first
      return [{ id, cwd, startedAt: first.at, last: { seq, at } }]
    })
    return Promise.resolve(summaries.sort((a, b) => b.startedAt - a.startedAt))
  }

  async repair(id: string): Promise<RepairedLog> {
    this.refuseIfHeld(id, this.find(id))
    return { findings: [], lost: 0 }
  }

  blobState(id: string, digest: string): Promise<BlobState> {
    return Promise.resolve(this.sessions.get(id)?.blobs.has(digest) ? 'whole' : 'missing')
  }

  async remove(id: string, last?: number): Promise<void> {
    const kept = this.find(id)
    this.refuseIfHeld(id, kept)
    if (last !== undefined && kept.events.at(-1)?.seq !== last) throw sessionErrors('SESSION_CHANGED', { id })
    this.sessions.delete(id)
  }

  async holder(id: string): Promise<LogHolder | undefined> {
    return this.find(id).writer && own
  }

  async unlock(id: string): Promise<void> {
    this.refuseIfHeld(id, this.find(id))
  }

  private find(id: string): Kept {
    const kept = this.sessions.get(id)
    if (!kept || kept.events.length === 0) throw sessionErrors('SESSION_NOT_FOUND', { id })
    return kept
  }

  private refuseIfHeld(id: string, kept: Kept): void {
    if (kept.writer) throw sessionErrors('SESSION_LOCKED', { id, ...own })
  }
}

export function memoryStore(): SessionStore {
  return new MemoryStore()
}
