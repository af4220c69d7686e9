/** Owns the cases that every session store must pass. */
import assert from 'node:assert/strict'
import type { SessionEvent } from './types.ts'
import { AT, started, note, write, begin, eventsOf, digestOf, type StoreCase } from './contract-subject.ts'
import { logCases } from './contract-log.ts'

export type { StoreCase, StoreSubject } from './contract-subject.ts'

/** Pass each case to a test runner, with a subject of its own. */
export const storeContract: readonly StoreCase[] = [
  ...logCases,
  {
    title: 'an id is given once',
    async run({ store, again }) {
      const log = await begin(store, 's')
      await log.close()
      await assert.rejects(again().create('s'), { code: 'SESSION_EXISTS' })
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
    title: 'a store that keeps checkpoints goes on from the last one that is accepted',
    async run({ store, again }) {
      const log = await begin(store, 's', note(1))
      if (!log.keepCheckpoint) return log.close()
      write(log, note(2))
      await log.keepCheckpoint({ seq: 2, state: { count: 2 } })
      write(log, note(3))
      await log.durable(3)
      await log.close()
      const opened = await again().open('s', 'write', { accepts: () => true })
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
