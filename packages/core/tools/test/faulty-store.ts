/** Owns a memory store whose writes and durability the test decides. */
import { memoryStore, type SessionEvent, type SessionLog, type SessionStore } from '@sluice/session'

export interface Faults {
  /** Throws to refuse an event. */
  write?: (event: SessionEvent) => void
  /** What `durable` waits for. */
  durable?: (seq: number) => Promise<void>
}

/** A store that asks `faults` first; change its members at any time. */
export function faultyStore(faults: Faults): SessionStore {
  const inner = memoryStore()
  const faulty = (log: SessionLog): SessionLog => ({
    write(event) {
      faults.write?.(event)
      log.write(event)
    },
    async durable(seq) {
      await faults.durable?.(seq)
      await log.durable(seq)
    },
    putBlob: (digest, bytes) => log.putBlob(digest, bytes),
    streamBlob: (pieces) => log.streamBlob(pieces),
    getBlob: (digest) => log.getBlob(digest),
    shareBlob: (from, digest) => log.shareBlob(from, digest),
    close: () => log.close(),
  })
  return {
    kind: 'faulty',
    create: async (id) => faulty(await inner.create(id)),
    async open(id, mode) {
      const opened = await inner.open(id, mode)
      return { ...opened, log: faulty(opened.log) }
    },
    scan: (id, visit) => inner.scan(id, visit),
    list: () => inner.list(),
    repair: (id) => inner.repair(id),
    remove: (id) => inner.remove(id),
    holder: (id) => inner.holder(id),
    unlock: (id, holder) => inner.unlock(id, holder),
  }
}
