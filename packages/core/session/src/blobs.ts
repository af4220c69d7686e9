/** Owns the blobs of one open session on their way to the store. */
import type { BlobRef, SessionLog } from './types.ts'

export class Blobs {
  private readonly log: SessionLog
  /** Being stored, or stored. */
  private readonly stores = new Map<string, Promise<void>>()
  /** Those whose digest is not known yet. */
  private readonly streams = new Set<Promise<unknown>>()
  /** Bytes that an event names already and the store does not have yet. */
  private readonly owed = new Map<string, Uint8Array>()

  constructor(log: SessionLog) {
    this.log = log
  }

  /** True when this session has stored it, or is about to. */
  has(digest: string): boolean {
    return this.stores.has(digest)
  }

  /** Stores once, whoever asks; after a failure the next one tries again. */
  put(digest: string, bytes: Uint8Array): Promise<void> {
    let store = this.stores.get(digest)
    if (!store) {
      store = this.log.putBlob(digest, bytes)
      this.stores.set(digest, store)
      store.catch(() => this.stores.delete(digest))
    }
    return store
  }

  /** Stores what comes; tells whether it was stored before. */
  async stream(pieces: AsyncIterable<Uint8Array>): Promise<{ blob: BlobRef; known: boolean }> {
    const store = this.log.streamBlob(pieces)
    this.streams.add(store)
    try {
      const blob = await store
      const known = this.has(blob.digest)
      this.stores.set(blob.digest, Promise.resolve())
      return { blob, known }
    } finally {
      this.streams.delete(store)
    }
  }

  /** Stores later than the event that names it; {@link settle} waits for it. */
  owe(digest: string, bytes: Uint8Array): void {
    this.owed.set(digest, bytes)
    this.pay(digest, bytes).catch(() => {})
  }

  get settled(): boolean {
    return this.owed.size === 0
  }

  /** Resolves when nothing is owed. Rejects with a failure; what failed stays owed. */
  async settle(): Promise<void> {
    await Promise.all([...this.owed].map(([digest, bytes]) => this.pay(digest, bytes)))
  }

  private async pay(digest: string, bytes: Uint8Array): Promise<void> {
    await this.put(digest, bytes)
    this.owed.delete(digest)
  }

  /** Waits for what is under way, whatever becomes of it. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.stores.values(), ...this.streams])
  }
}
