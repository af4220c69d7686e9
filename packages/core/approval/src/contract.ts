/** Owns what every answerer does, however it asks its person: cases for the terminal, a web page, another program. */
import assert from 'node:assert/strict'
import type { Answer, Answerer, Question } from './types.ts'

/** An answerer and the person behind it, who does what a case says. */
export interface AnswererSubject {
  readonly answerer: Answerer
  /** What the person does with the question that is asked next, or is open longest. */
  readonly press: (kind: Answer['kind'], message?: string) => void | Promise<void>
  /** The person takes the only rule that this question offers. */
  readonly always: () => void | Promise<void>
}

/** One case, as contract runners take it. */
export interface AnswererCase {
  readonly title: string
  run(subject: AnswererSubject): Promise<void>
}

const signal = new AbortController().signal
const ask = { by: 'house#1', reason: 'it changes a file' }

function question(callId: string, more: Partial<Question> = {}): Question {
  return Object.freeze({
    callId,
    sessionId: 's1',
    tool: 'write',
    text: `Allow write(${callId})? it changes a file`,
    asks: Object.freeze([Object.freeze(ask)]),
    card: Object.freeze({ v: 1, kind: 'generic', title: 'write' }),
    signal,
    ...more,
  })
}

export const answererContract: readonly AnswererCase[] = [
  {
    title: 'a person who allows gives one answer for the call that was asked about',
    async run({ answerer, press }) {
      const answer = Promise.resolve(answerer(question('c1')))
      await press('allow-once')
      assert.deepEqual(await answer, { callId: 'c1', kind: 'allow-once' })
    },
  },
  {
    title: 'a person can take the rule that is offered, and a plain yes takes none',
    async run({ answerer, press, always }) {
      const asks = [{ ...ask, offers: [{ id: 'o1', text: 'write(c1)' }] }]
      const taken = Promise.resolve(answerer(question('c1', { asks })))
      await always()
      assert.deepEqual(await taken, { callId: 'c1', kind: 'allow-once', offer: 'o1' })
      const once = Promise.resolve(answerer(question('c2', { asks })))
      await press('allow-once')
      assert.deepEqual(await once, { callId: 'c2', kind: 'allow-once' })
    },
  },
  {
    title: 'a person who refuses can say why',
    async run({ answerer, press }) {
      const answer = Promise.resolve(answerer(question('c1')))
      await press('reject', 'use the other file')
      assert.deepEqual(await answer, { callId: 'c1', kind: 'reject', message: 'use the other file' })
    },
  },
  {
    title: 'a person can dismiss the question',
    async run({ answerer, press }) {
      const answer = Promise.resolve(answerer(question('c1')))
      await press('cancel')
      assert.equal((await answer)?.kind, 'cancel')
    },
  },
  {
    title: 'a question that is settled elsewhere is taken away without an answer',
    async run({ answerer, press }) {
      const elsewhere = new AbortController()
      const first = Promise.resolve(answerer(question('c1', { signal: elsewhere.signal })))
      elsewhere.abort()
      assert.equal(await first, undefined)
      const second = Promise.resolve(answerer(question('c2')))
      await press('allow-once')
      assert.equal((await second)?.callId, 'c2')
    },
  },
  {
    title: 'a question that was settled before it is shown is not asked',
    async run({ answerer }) {
      assert.equal(await answerer(question('c1', { signal: AbortSignal.abort() })), undefined)
    },
  },
  {
    title: 'several open questions each get their own answer',
    async run({ answerer, press }) {
      const answers = ['c1', 'c2'].map((id) => Promise.resolve(answerer(question(id))))
      await press('allow-once')
      await press('reject')
      const given = (await Promise.all(answers)).map((answer) => `${answer?.callId} ${answer?.kind}`)
      assert.deepEqual(given, ['c1 allow-once', 'c2 reject'])
    },
  },
]
