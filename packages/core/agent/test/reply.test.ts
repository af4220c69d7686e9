import type { StreamPart } from '@sluice/llm'
import { describe, expect, test } from 'vitest'
import { withUsableIds } from '../src/callids.ts'
import { cutOffBy, cutOffByLog } from '../src/prompt.ts'
import { collectReply, REPLY_CHARS_MAX } from '../src/reply.ts'
import { mount } from './harness.ts'

async function* parts(...list: StreamPart[]) {
  yield* list
}
const never = new AbortController().signal

describe('a reply', () => {
  test('neighbouring pieces of one kind are one part, in the order of their coming', async () => {
    const reply = await collectReply(
      'sim/one',
      () =>
        parts(
          { type: 'reasoning', text: 'hm ' },
          { type: 'reasoning', text: 'yes' },
          { type: 'text', text: '\ud83d' },
          { type: 'text', text: '\ude00!' },
          { type: 'text', text: '' },
          { type: 'tool-call-started', id: 'c1', name: 'look' },
          { type: 'tool-call', id: 'c1', name: 'look', argumentsText: '{}' },
          { type: 'text', text: 'after' },
          { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 3 } },
        ),
      never,
      () => {},
    )
    expect(reply).toEqual({
      content: [
        { type: 'reasoning', text: 'hm yes' },
        { type: 'text', text: '😀!' },
        { type: 'tool-call', id: 'c1', name: 'look', argumentsText: '{}' },
        { type: 'text', text: 'after' },
      ],
      finish: 'tool-calls',
      usage: { inputTokens: 3 },
    })
  })

  test('a reply without end is cut at its bound and fails', async () => {
    const chunk = 'x'.repeat(1024 * 1024)
    async function* flood(): AsyncGenerator<StreamPart> {
      for (;;) yield { type: 'text', text: chunk }
    }
    const reply = await collectReply('sim/one', flood, never, () => {})
    expect(reply.failure?.code).toBe('AGENT_REPLY_TOO_LONG')
    expect(JSON.stringify(reply.content).length).toBeLessThan(REPLY_CHARS_MAX + 2 * chunk.length)
  })

  test('an empty call id is replaced', async () => {
    const m = await mount([])
    const part = { type: 'tool-call', id: '', name: 'look', argumentsText: '{}' } as const
    let minted = 0
    const content = [part, { type: 'text', text: 'x' }, part] as const
    const settled = withUsableIds(m.session, content, () => `minted_${++minted}`)
    expect(settled.content.map((p) => (p.type === 'tool-call' ? p.id : p.type))).toEqual([
      'minted_1',
      'text',
      'minted_2',
    ])
    expect(settled.originalIds).toEqual({ 0: '', 1: '' })
  })
})

test('what a model reads about calls that were not run', () => {
  expect(cutOffBy('stop')).toBeUndefined()
  expect(cutOffBy('tool-calls')).toBeUndefined()
  expect(cutOffBy('length')).toBe('the output limit was reached')
  expect(cutOffBy('filter')).toBe('the provider filtered it')
  expect(cutOffBy('aborted')).toBe('it was interrupted while it was written')
  expect(cutOffBy('error')).toBe('it broke off')
  expect(cutOffBy('incomplete')).toBe('it broke off')
  expect(cutOffByLog('disk full')).toBe('the session log could not be written: disk full')
})
