import { flushMicrotasks, probeTool } from '@sluice/testkit'
import type { Card, KnownEvent } from '@sluice/session'
import { describe, expect, test } from 'vitest'
import type { Bench } from './kit.ts'
import { deny, judges } from './listeners.ts'
import { soundBench } from './sound.ts'

const every: Card[] = [
  { v: 1, kind: 'generic', title: 'Probe', text: 'x' },
  { v: 1, kind: 'terminal', title: 'Run', command: 'ls', output: 'a\n', exitCode: 0 },
  { v: 1, kind: 'terminal', title: 'Run', command: 'ls', exitCode: null },
  { v: 1, kind: 'diff', title: 'Edit', path: 'a', diff: '-a\n+b\n' },
  { v: 1, kind: 'search', title: 'Grep', query: 'x', hits: 3, text: 'a:1' },
  { v: 1, kind: 'read', title: 'Read', path: 'a', lines: '1-9' },
  { v: 1, kind: 'web', title: 'Fetch', url: 'https://example.test/' },
  { v: 1, kind: 'todo', title: 'Todo', items: [{ text: 'a', status: 'doing' }] },
]

const cyclic: Record<string, unknown> = { v: 1, kind: 'generic', title: 'x' }
cyclic['self'] = cyclic

/** What a presenter may do instead of giving a card. */
const broken: Record<string, () => unknown> = {
  'a throw': () => {
    throw new Error('broken')
  },
  'a throw of nothing': () => {
    throw undefined
  },
  nothing: () => undefined,
  'a text': () => 'card',
  'a promise': async () => every[0],
  'a rejected promise': () => Promise.reject(new Error('late')),
  'another version': () => ({ ...every[0], v: 2 }),
  'another kind': () => ({ v: 1, kind: 'video', title: 'x' }),
  'a kind of every object': () => ({ v: 1, kind: 'constructor', title: 'x' }),
  'no title': () => ({ v: 1, kind: 'generic' }),
  'a needed field that is missing': () => ({ v: 1, kind: 'diff', title: 'x', path: 'a' }),
  'an optional field that is wrong': () => ({ ...every[1], output: 5 }),
  'a broken list': () => ({ v: 1, kind: 'todo', title: 'x', items: [{ text: 'a', status: 'perhaps' }] }),
  'a field too many': () => ({ ...every[0], html: '<b>' }),
  'a date': () => ({ ...every[0], text: new Date(0) }),
  'a cycle': () => cyclic,
  'a getter that throws': () => ({
    v: 1,
    kind: 'generic',
    get title() {
      throw new Error('no title')
    },
  }),
}

function cards(bench: Bench): { call: Card | undefined; result: Card | undefined } {
  const events = bench.session.events as readonly KnownEvent[]
  const call = events.filter((event) => event.type === 'tool/call').at(-1)?.data.card
  const result = events.filter((event) => event.type === 'tool/result').at(-1)?.data.card
  return { call, result }
}

describe('cards', () => {
  test('of every kind are stored with call and result, so that a reader needs no tool to show them', async () => {
    for (const card of every) {
      const bench = await soundBench()
      const fiber = await bench.register(probeTool({ presentCall: () => card, presentResult: () => card }).definition)
      await bench.call('probe')
      await fiber.dispose()
      expect(cards(bench)).toEqual({ call: card, result: card })
      expect(JSON.parse(JSON.stringify(cards(bench)))).toEqual({ call: card, result: card })
    }
  })

  test('a presenter that throws, or gives no card, gives the generic card, and the call stands', async () => {
    for (const [what, present] of Object.entries(broken)) {
      const bench = await soundBench()
      const presenters = { presentCall: present, presentResult: present } as never as Partial<
        ReturnType<typeof probeTool>['definition']
      >
      await bench.register({ ...probeTool().definition, ...presenters })
      const { result } = await bench.call('probe', { a: 1 })
      await flushMicrotasks()
      expect(result.outcome, what).toEqual({ tag: 'succeeded', executed: 'yes' })
      expect(cards(bench), what).toEqual({
        call: { v: 1, kind: 'generic', title: 'probe', text: '{"a":1}' },
        result: { v: 1, kind: 'generic', title: 'probe: succeeded', text: 'probed' },
      })
    }
  })

  test('presenters are given frozen data and called with nothing else', async () => {
    const bench = await soundBench()
    const given: unknown[][] = []
    await bench.register({
      ...probeTool().definition,
      presentCall: (...args: unknown[]) => (given.push(args), every[0] as Card),
      presentResult: (...args: unknown[]) => (given.push(args), every[0] as Card),
    })
    await bench.call('probe', { a: [1] })
    expect(given.map((args) => args.length)).toEqual([1, 2])
    expect(given.flat().every(Object.isFrozen)).toBe(true)
  })

  test('a result that did not succeed has the generic card with its outcome', async () => {
    const bench = await soundBench()
    let presented = 0
    await bench.register({ ...probeTool().definition, presentResult: () => (presented++, every[1] as Card) })
    await judges(bench, { denies: () => deny('not now') })
    await bench.call('probe')
    expect(presented).toBe(0)
    expect(cards(bench).result).toMatchObject({
      kind: 'generic',
      title: 'probe: denied',
      text: expect.stringContaining('not now') as string,
    })
  })

  // 13.4
  test('a presenter is not called once its plugin has gone, though the result stands', async () => {
    const bench = await soundBench()
    let presented = 0
    const tool = await bench.register({
      ...probeTool().definition,
      presentResult: () => (presented++, every[1] as Card),
    })
    await bench.plugin('unloads', (ctx) => {
      ctx.on('tools/post-execute', async (_call, _result, next) => (await tool.dispose(), next()))
    })
    expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
    expect([presented, cards(bench).result?.kind]).toEqual([0, 'generic'])
  })

  test('an image is named in the generic card by its media type', async () => {
    const bench = await soundBench()
    const image = { type: 'image', mediaType: 'image/png', blob: { digest: 'a'.repeat(64), size: 1 } } as const
    await bench.register(probeTool({ render: () => [{ type: 'text', text: 'see' }, image] }).definition)
    await bench.call('probe')
    expect(cards(bench).result).toMatchObject({ text: 'see\n[image/png]' })
  })

  test('generic cards are short, whatever the call and its result hold', async () => {
    const bench = await soundBench()
    await bench.register(probeTool({ body: () => '😀'.repeat(10_000) }).definition)
    await bench.call('probe', { text: '😀'.repeat(10_000) })
    for (const card of Object.values(cards(bench))) {
      const text = card?.kind === 'generic' ? (card.text ?? '') : ''
      expect(text.length).toBeLessThanOrEqual(401)
      expect(text.isWellFormed()).toBe(true)
      expect(text.endsWith('…')).toBe(true)
    }
  })
})
