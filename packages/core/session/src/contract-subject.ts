/** Owns what the cases of a session store are made of. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Json } from '@sluice/base'
import type { SessionEvent, SessionLog, SessionStore } from './types.ts'

/** Made fresh for each case. */
export interface StoreSubject {
  readonly store: SessionStore
  /** A store over the same data, as another process would have it; for a store in memory the same one. */
  readonly again: () => SessionStore
}

export interface StoreCase {
  readonly title: string
  run(subject: StoreSubject): Promise<void>
}

export const AT = 1_700_000_000_000

export function event(
  seq: number,
  type: string,
  data: Json,
  more: { cause?: number; optional?: true } = {},
): SessionEvent {
  return { seq, at: AT + seq, type, data, ...more }
}

export function started(id: string, at = AT): SessionEvent {
  return { ...event(0, 'session/started', { format: 1, id, cwd: `/proj/${id}` }), at }
}

export function note(seq: number, text = `note ${seq}`): SessionEvent {
  return event(seq, 'user/message', { content: [{ type: 'text', text }], source: 'user' })
}

export function write(log: SessionLog, ...events: readonly SessionEvent[]): void {
  for (const each of events) log.write(each)
}

export async function begin(store: SessionStore, id: string, ...more: readonly SessionEvent[]): Promise<SessionLog> {
  const log = await store.create(id)
  write(log, started(id), ...more)
  await log.durable(more.at(-1)?.seq ?? 0)
  return log
}

export async function eventsOf(store: SessionStore, id: string): Promise<readonly SessionEvent[]> {
  const { events, findings } = await store.open(id, 'read')
  assert.deepEqual(findings, [])
  return events
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function assertFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  assert.ok(Object.isFrozen(value))
  for (const inner of Object.values(value)) assertFrozen(inner)
}
