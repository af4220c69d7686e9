/** Owns a store that keeps sessions in memory only. */
import { sessionErrors } from './errors.ts'
import type { OpenedLog, SessionEvent, SessionLog, SessionStore, SessionSummary } from './types.ts'

interface Kept {
  readonly events: SessionEvent[]
  readonly blobs: Map<string, Uint8Array>
  writer: MemoryLog | undefined
}

class MemoryLog implements SessionLog {
  private readonly kept: Kept

  constructor(kept: Kept) {
    this.kept = kept
  }

  write(event: SessionEvent): void {
    this.kept.events.push(event)
  }

  durable(): Promise<void> {
    return Promise.resolve()
  }

  putBlob(digest: string, bytes: Uint8Array): Promise<void> {
    this.kept.blobs.set(digest, bytes.slice())
    return Promise.resolve()
  }

  getBlob(digest: string): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.kept.blobs.get(digest)?.slice())
  }

  close(): Promise<void> {
    if (this.kept.writer === this) this.kept.writer = undefined
    return Promise.resolve()
  }
}

/** Sessions live as long as the store does. One writer per session, as everywhere. */
class MemoryStore implements SessionStore {
  readonly kind = 'memory'
  private readonly sessions = new Map<string, Kept>()

  create(id: string): Promise<SessionLog> {
    if (this.sessions.has(id)) return Promise.reject(sessionErrors('SESSION_EXISTS', { id }))
    const kept: Kept = { events: [], blobs: new Map(), writer: undefined }
    kept.writer = new MemoryLog(kept)
    this.sessions.set(id, kept)
    return Promise.resolve(kept.writer)
  }

  open(id: string, mode: 'write' | 'read'): Promise<OpenedLog> {
    const kept = this.sessions.get(id)
    if (!kept || kept.events.length === 0) return Promise.reject(sessionErrors('SESSION_NOT_FOUND', { id }))
    if (mode === 'write' && kept.writer) {
      return Promise.reject(sessionErrors('SESSION_LOCKED', { id, pid: 0, host: 'this process' }))
    }
    const log = new MemoryLog(kept)
    if (mode === 'write') kept.writer = log
    return Promise.resolve({ log, events: [...kept.events], findings: [], writable: mode === 'write' })
  }

  list(): Promise<SessionSummary[]> {
    const summaries = [...this.sessions.values()].flatMap(({ events: [first] }) => {
      if (first?.type !== 'session/started') return []
      const { id, cwd } = (first as SessionEvent<'session/started'>).data
      return [{ id, cwd, startedAt: first.at }]
    })
    return Promise.resolve(summaries.sort((a, b) => b.startedAt - a.startedAt))
  }
}

export function memoryStore(): SessionStore {
  return new MemoryStore()
}
