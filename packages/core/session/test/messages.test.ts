import { expect, test } from 'vitest'
import { deriveMessages, noResultText, summaryText } from '../src/index.ts'
import { freshSession } from './mount.ts'
import { assistant, brief, result, text, user } from './say.ts'

test('results recorded in finish order are sent in request order', async () => {
  const session = await freshSession()
  user(session, 'go')
  assistant(session, 'three', ['a', 'b', 'c'])
  result(session, 'c')
  result(session, 'a')
  expect(brief(session)).toEqual(['user go', 'assistant three(a,b,c)', 'result a'])
  result(session, 'b')
  expect(brief(session).slice(2)).toEqual(['result a', 'result b', 'result c'])
})

// BUG-009
test('nothing stands between calls and their results: contexts and user messages follow in arrival order', async () => {
  const session = await freshSession()
  assistant(session, '', ['a', 'b'])
  result(session, 'a')
  user(session, 'a context', 'hook')
  user(session, 'queued')
  result(session, 'b')
  expect(brief(session)).toEqual(['assistant (a,b)', 'result a', 'result b', 'user a context', 'user queued'])
})

test('a second result of a call and a result of no call change nothing', async () => {
  const session = await freshSession()
  assistant(session, '', ['a'])
  result(session, 'a', 'first')
  result(session, 'a', 'second')
  result(session, 'stranger')
  expect(brief(session)).toEqual(['assistant (a)', 'result a'])
  expect(session.messages()[1]?.content).toEqual(text('first'))
  assistant(session, '', ['b', 'c'])
  result(session, 'c', 'first')
  result(session, 'c', 'second')
  result(session, 'b')
  expect(session.messages().at(-1)?.content).toEqual(text('first'))
})

test('a call without a result gets a placeholder when the model goes on, and its late result takes that place', async () => {
  const session = await freshSession()
  assistant(session, '', ['a', 'b'])
  result(session, 'b')
  user(session, 'go on')
  assistant(session, 'done')
  expect(brief(session)).toEqual(['assistant (a,b)', 'result a', 'result b', 'user go on', 'assistant done'])
  expect(session.messages()[1]).toMatchObject({ content: text(noResultText), isError: true })
  result(session, 'a', 'late')
  expect(session.messages()[1]).toMatchObject({ content: text('late'), isError: false })
  expect(session.messages()).toHaveLength(5)
})

test('arguments that are no JSON object are sent as {} and kept in the event', async () => {
  const session = await freshSession()
  const event = assistant(session, '', ['a:{"x":1', 'b:[1]', 'c:{"x":1}', 'd:'])
  const sent = session.messages()[0]?.content.map((part) => ('argumentsText' in part ? part.argumentsText : ''))
  expect(sent).toEqual(['{}', '{}', '{"x":1}', '{}'])
  expect(event.data.content[0]).toMatchObject({ argumentsText: '{"x":1' })
})

test('partial text of an interrupted message is kept; a message that says nothing is not sent', async () => {
  const session = await freshSession()
  const common = { finish: 'incomplete', model: 'test/model', interrupted: 'the stream broke' } as const
  session.append('assistant/message', { content: text('half a sent'), ...common })
  session.append('assistant/message', { content: [], ...common })
  session.append('assistant/message', { content: [{ type: 'reasoning', text: 'hm' }, ...text('')], ...common })
  expect(brief(session)).toEqual(['assistant half a sent'])
})

test('a compaction replaces the messages up to its event by a summary, twice too', async () => {
  const session = await freshSession()
  user(session, 'one')
  const first = assistant(session, 'two')
  user(session, 'three')
  const before = session.messages()
  session.append('compaction/done', { upTo: first.seq, summary: 'S1' })
  expect(brief(session)).toEqual([`user ${summaryText('S1')}`, 'user three'])
  expect(before).toHaveLength(3)
  const second = assistant(session, 'four')
  user(session, 'five')
  session.append('compaction/done', { upTo: second.seq, summary: 'S2' })
  expect(brief(session)).toEqual([`user ${summaryText('S2')}`, 'user five'])
  session.append('compaction/done', { upTo: first.seq, summary: 'stale' })
  expect(brief(session)).toEqual([`user ${summaryText('S2')}`, 'user five'])
})

test('a compaction never parts a call from its result', async () => {
  const session = await freshSession()
  user(session, 'one')
  const call = assistant(session, '', ['a', 'b'])
  result(session, 'a')
  session.append('compaction/done', { upTo: call.seq + 1, summary: 'S' })
  result(session, 'b')
  expect(brief(session)).toEqual([`user ${summaryText('S')}`, 'assistant (a,b)', 'result a', 'result b'])
})

test('a compaction after the last result replaces calls and results together', async () => {
  const session = await freshSession()
  assistant(session, '', ['a', 'b'])
  result(session, 'a')
  user(session, 'queued')
  const last = result(session, 'b')
  user(session, 'next')
  session.append('compaction/done', { upTo: last.seq, summary: 'S' })
  expect(brief(session)).toEqual([`user ${summaryText('S')}`, 'user next'])
})

test('the history built event by event equals the one built from the whole log', async () => {
  const session = await freshSession()
  const views: unknown[] = []
  session.subscribe(() => views.push(structuredClone(session.messages())))
  user(session, 'go')
  assistant(session, '', ['a', 'b'])
  result(session, 'b')
  user(session, 'more')
  result(session, 'a')
  session.append('compaction/done', { upTo: 1, summary: 'S' })
  for (const [index, view] of views.entries()) {
    expect(deriveMessages(session.events.slice(0, index + 2))).toEqual(view)
  }
})
