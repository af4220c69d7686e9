/** Owns the cases that every session store must pass. */
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

const AT = 1_700_000_000_000

function event(seq: number, type: string, data: Json, more: { cause?: number; optional?: true } = {}): SessionEvent {
  return { seq, at: AT + seq, type, data, ...more }
}

function started(id: string, at = AT): SessionEvent {
  return { ...event(0, 'session/started', { format: 1, id, cwd: `/proj/${id}` }), at }
}

function note(seq: number, text = `note ${seq}`): SessionEvent {
  return event(seq, 'user/message', { content: [{ type: 'text', text }], source: 'user' })
}

function write(log: SessionLog, ...events: readonly SessionEvent[]): void {
  for (const each of events) log.write(each)
}

async function begin(store: SessionStore, id: string, ...more: readonly SessionEvent[]): Promise<SessionLog> {
  const log = await store.create(id)
  write(log, started(id), ...more)
  await log.durable(more.at(-1)?.seq ?? 0)
  return log
}

async function eventsOf(store: SessionStore, id: string): Promise<readonly SessionEvent[]> {
  const { events, findings } = await store.open(id, 'read')
  assert.deepEqual(findings, [])
  return events
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function assertFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  assert.ok(Object.isFrozen(value))
  for (const inner of Object.values(value)) assertFrozen(inner)
}

const awkward = [
  'a\u2028b\u2029c\u0085d',
  'nul \u0000 tab \t line\nbreak\r\n',
  '😀 현',
  '"\\',
  '',
  'x'.repeat(3_000_000),
]

/** Pass each case to a test runner, with a subject of its own. */
export const storeContract: readonly StoreCase[] = [
  {
    title: 'events come back equal and in order, whatever their text',
    async run({ store, again }) {
      const notes = awkward.map((text, index) => note(index + 1, text))
      const last = event(notes.length + 1, 'other/thing', { deep: [{ n: 1.5, z: null }] }, { cause: 2, optional: true })
      const log = await begin(store, 's', ...notes, last)
      await log.close()
      assert.deepEqual(await eventsOf(again(), 's'), [started('s'), ...notes, last])
    },
  },
  {
    title: 'events come back deeply frozen',
    async run({ store, again }) {
      const written = started('s')
      const log = await store.create('s')
      const frozen = Object.freeze({ ...written, data: Object.freeze(written.data) })
      write(log, frozen)
      await log.durable(0)
      await log.close()
      for (const each of await eventsOf(again(), 's')) assertFrozen(each)
    },
  },
  {
    title: 'a session nobody wrote to does not exist',
    async run({ store, again }) {
      const log = await store.create('s')
      await log.close()
      await assert.rejects(again().open('s', 'write'), { code: 'SESSION_NOT_FOUND' })
      await assert.rejects(again().open('s', 'read'), { code: 'SESSION_NOT_FOUND' })
      await assert.rejects(again().open('other', 'write'), { code: 'SESSION_NOT_FOUND' })
      assert.deepEqual(await again().list(), [])
    },
  },
  {
    title: 'an id is given once',
    async run({ store, again }) {
      const log = await begin(store, 's')
      await log.close()
      await assert.rejects(again().create('s'), { code: 'SESSION_EXISTS' })
    },
  },
  {
    title: 'a second writer is refused until the first has closed, and goes on where it ended',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      const other = again()
      await assert.rejects(other.open('s', 'write'), { code: 'SESSION_LOCKED' })
      write(log, note(2))
      await log.durable(2)
      await log.close()
      const opened = await other.open('s', 'write')
      assert.equal(opened.writable, true)
      assert.equal(opened.events.length, 3)
      write(opened.log, note(3))
      await opened.log.durable(3)
      await opened.log.close()
      assert.deepEqual(await eventsOf(again(), 's'), [started('s'), note(1), note(2), note(3)])
    },
  },
  {
    title: 'a reader beside the writer sees what is durable and cannot write',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      const reader = await again().open('s', 'read')
      assert.equal(reader.writable, false)
      assert.deepEqual(reader.events, [started('s'), note(1)])
      await reader.log.close()
      write(log, note(2))
      await log.durable(2)
      assert.equal((await eventsOf(again(), 's')).length, 3)
      await log.close()
    },
  },
  {
    title: 'many waiters at once are all answered, and order is kept',
    async run({ store, again }) {
      const log = await begin(store, 's')
      const waits: Promise<void>[] = []
      for (let seq = 1; seq <= 300; seq++) {
        write(log, note(seq))
        waits.push(log.durable(seq))
        for (let turns = seq % 4; turns > 0; turns--) await Promise.resolve()
      }
      await Promise.all(waits)
      await log.close()
      const seqs = (await eventsOf(again(), 's')).map((each) => each.seq)
      assert.deepEqual(seqs, [...seqs.keys()])
      assert.equal(seqs.length, 301)
    },
  },
  {
    title: 'what is durable already is answered at once',
    async run({ store }) {
      const log = await begin(store, 's', note(1))
      await log.durable(0)
      await log.durable(1)
      await log.durable(-1)
      await log.close()
    },
  },
  {
    title: 'closing keeps what was written and not waited for',
    async run({ store, again }) {
      const log = await begin(store, 's')
      write(log, note(1), note(2))
      await log.durable(2)
      write(log, note(3))
      await log.close()
      assert.equal((await eventsOf(again(), 's')).length, 4)
    },
  },
  {
    title: 'blobs come back by their digest, and strange digests find nothing',
    async run({ store, again }) {
      const log = await begin(store, 's')
      const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index & 255)
      const digest = digestOf(bytes)
      const given = Buffer.from(bytes)
      await log.putBlob(digest, given)
      await log.putBlob(digest, bytes)
      given.fill(0)
      const got = await log.getBlob(digest)
      assert.deepEqual(got, bytes)
      got?.fill(0)
      assert.deepEqual(await log.getBlob(digest), bytes)
      await log.close()
      const reader = await again().open('s', 'read')
      assert.deepEqual(await reader.log.getBlob(digest), bytes)
      for (const strange of ['0'.repeat(64), '../events.jsonl', '', '__proto__']) {
        assert.equal(await reader.log.getBlob(strange), undefined)
      }
      await reader.log.close()
    },
  },
  {
    title: 'sessions are listed newest first, with id, folder and last event',
    async run({ store, again }) {
      for (const [index, id] of ['b', '__proto__', 'a'].entries()) {
        const log = await store.create(id)
        write(log, started(id, AT + index), ...(index === 2 ? [note(1), note(2)] : []))
        await log.durable(2)
        await log.close()
      }
      const list = await again().list()
      assert.deepEqual(
        list.map(({ id, cwd, startedAt, last }) => ({ id, cwd, startedAt, last })),
        [
          { id: 'a', cwd: '/proj/a', startedAt: AT + 2, last: { seq: 2, at: AT + 2 } },
          { id: '__proto__', cwd: '/proj/__proto__', startedAt: AT + 1, last: { seq: 0, at: AT + 1 } },
          { id: 'b', cwd: '/proj/b', startedAt: AT, last: { seq: 0, at: AT } },
        ],
      )
    },
  },
  {
    title: 'a scan shows every event in order and finds nothing wrong',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1), note(2))
      await log.close()
      const seen: SessionEvent[] = []
      assert.deepEqual(await again().scan('s', (each) => seen.push(each)), [])
      assert.deepEqual(seen, [started('s'), note(1), note(2)])
      await assert.rejects(
        again().scan('other', () => {}),
        { code: 'SESSION_NOT_FOUND' },
      )
    },
  },
  {
    title: 'a blob of one session can be had in another, and outlives the first',
    async run({ store, again }) {
      const bytes = new TextEncoder().encode('shared')
      const parent = await begin(store, 'parent')
      await parent.putBlob(digestOf(bytes), bytes)
      await parent.close()
      const child = await begin(again(), 'child')
      assert.equal(await child.shareBlob('parent', digestOf(bytes)), true)
      assert.equal(await child.shareBlob('parent', digestOf(bytes)), true)
      assert.equal(await child.shareBlob('parent', '0'.repeat(64)), false)
      assert.equal(await child.shareBlob('nobody', '0'.repeat(64)), false)
      await again().remove('parent')
      assert.deepEqual(await child.getBlob(digestOf(bytes)), bytes)
      await child.close()
    },
  },
  {
    title: 'a removed session is gone, and one that is being written cannot be removed',
    async run({ store, again }) {
      const log = await begin(store, 's')
      await log.putBlob(digestOf(new Uint8Array(1)), new Uint8Array(1))
      await assert.rejects(again().remove('s'), { code: 'SESSION_LOCKED' })
      await log.close()
      await again().remove('s')
      await assert.rejects(again().remove('s'), { code: 'SESSION_NOT_FOUND' })
      assert.deepEqual(await again().list(), [])
      const fresh = await begin(again(), 's', note(1))
      await fresh.close()
      assert.equal((await eventsOf(again(), 's')).length, 2)
    },
  },
  {
    title: 'a session that has gone on since it was looked at is not removed',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      await log.close()
      await assert.rejects(again().remove('s', 0), { code: 'SESSION_CHANGED' })
      assert.equal((await eventsOf(again(), 's')).length, 2)
      await again().remove('s', 1)
      assert.deepEqual(await again().list(), [])
    },
  },
  {
    title: 'a store that looks at blobs tells those that are there from others',
    async run({ store, again }) {
      if (!store.blobState) return
      const log = await begin(store, 's')
      const bytes = new Uint8Array(3)
      await log.putBlob(digestOf(bytes), bytes)
      await log.close()
      assert.equal(await again().blobState?.('s', digestOf(bytes)), 'whole')
      for (const strange of ['0'.repeat(64), '../events.jsonl']) {
        assert.equal(await again().blobState?.('s', strange), 'missing')
      }
    },
  },
  {
    title: 'whoever writes a session can be named, and holds it no longer when it is closed',
    async run({ store, again }) {
      const log = await begin(store, 's')
      const holder = await again().holder('s')
      assert.equal(typeof holder?.pid, 'number')
      assert.ok(holder)
      await assert.rejects(again().unlock('s', holder), { code: 'SESSION_LOCKED' })
      await log.close()
      assert.equal(await again().holder('s'), undefined)
      await again().unlock('s', holder)
      await assert.rejects(again().holder('other'), { code: 'SESSION_NOT_FOUND' })
      await assert.rejects(again().unlock('other', holder), { code: 'SESSION_NOT_FOUND' })
    },
  },
  {
    title: 'a log that is whole needs no repair, and one that is being written gets none',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      await assert.rejects(again().repair('s'), { code: 'SESSION_LOCKED' })
      await log.close()
      assert.deepEqual(await again().repair('s'), { findings: [], lost: 0 })
      assert.equal((await eventsOf(again(), 's')).length, 2)
      await assert.rejects(again().repair('other'), { code: 'SESSION_NOT_FOUND' })
    },
  },
  {
    title: 'a store that keeps checkpoints goes on from the last one that fits',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      if (!log.keepCheckpoint) return log.close()
      write(log, note(2))
      await log.keepCheckpoint({ seq: 2, state: { count: 2 } })
      write(log, note(3))
      await log.durable(3)
      await log.close()
      const opened = await again().open('s', 'write', { checkpoint: true })
      assert.deepEqual(opened.checkpoint, { seq: 2, state: { count: 2 } })
      assert.deepEqual(opened.events, [note(3)])
      write(opened.log, note(4))
      await opened.log.durable(4)
      await opened.log.close()
      const whole = await again().open('s', 'read')
      assert.equal(whole.checkpoint, undefined)
      assert.deepEqual(whole.events, [started('s'), note(1), note(2), note(3), note(4)])
    },
  },
]
