/** Owns the cases of one log of a session store: what is written comes back, in order, to one writer at a time. */
import assert from 'node:assert/strict'
import {
  event,
  started,
  note,
  write,
  begin,
  eventsOf,
  digestOf,
  assertFrozen,
  type StoreCase,
} from './contract-subject.ts'

const awkward = [
  'a\u2028b\u2029c\u0085d',
  'nul \u0000 tab \t line\nbreak\r\n',
  '😀 현',
  '"\\',
  '',
  'x'.repeat(3_000_000),
]

export const logCases: readonly StoreCase[] = [
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
    title: 'a blob that comes in pieces is stored as they come, and one whose pieces fail is not',
    async run({ store, again }) {
      const log = await begin(store, 's')
      const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index & 255)
      async function* pieces(end: number) {
        for (let at = 0; at < end; at += 30_000) yield Promise.resolve(bytes.slice(at, Math.min(at + 30_000, end)))
        if (end < bytes.length) throw new Error('no more comes')
      }
      const blob = { digest: digestOf(bytes), size: bytes.length }
      await assert.rejects(log.streamBlob(pieces(60_000)), { message: /no more comes/ })
      assert.equal(await log.getBlob(digestOf(bytes.slice(0, 60_000))), undefined)
      const [one, two] = await Promise.all([log.streamBlob(pieces(100_000)), log.streamBlob(pieces(100_000))])
      assert.deepEqual([one, two], [blob, blob])
      await log.putBlob(blob.digest, bytes)
      await log.close()
      const reader = await again().open('s', 'read')
      assert.deepEqual(await reader.log.getBlob(blob.digest), bytes)
      await reader.log.close()
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
]
