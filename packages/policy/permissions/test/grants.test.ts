import { type Config, decide, exactRule, type Grant, type Mode, parseRule } from '@sluice/permissions'
import type { Answer } from '@sluice/approval'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mount } from './grants-bench.ts'

// 1.4, BUG-034
describe('always allow', () => {
  test('lets the same call pass from here on, and no other', async () => {
    const bench = await mount()
    bench.person.says = 'always'
    expect(await bench.tries('a.txt')).toBe('succeeded, asked 1')
    expect(bench.offers()).toEqual(['probe(a.txt)'])
    expect(bench.granted()).toEqual(['probe(a.txt)'])
    bench.person.says = 'no'
    expect(await bench.tries('a.txt')).toBe('succeeded, asked 0')
    for (const other of ['a.txt ', 'A.txt', './a.txt', 'a.txt/b', 'a', 'b.txt', 5])
      expect(await bench.tries(other), String(other)).toBe('denied, asked 1')
  })

  test('is written down as the answer to the choice, before the body may begin', async () => {
    const bench = await mount()
    bench.person.says = 'always'
    await bench.tries('a.txt')
    const events = bench.events()
    const decided = events.find(({ type }) => type === 'approval/decided')
    const granted = events.find(({ type }) => type === 'permission/granted')
    expect(granted).toMatchObject({ cause: decided?.seq, data: { rule: 'probe(a.txt)', by: 'person' } })
    expect(granted?.seq).toBeLessThan(events.find(({ type }) => type === 'tool/started')?.seq ?? 0)
  })

  test('a yes without it grants nothing, and neither does a no', async () => {
    const bench = await mount()
    for (const says of ['yes', 'no'] as const) {
      bench.person.says = says
      await bench.tries('a.txt')
      expect(bench.offers()).toEqual(['probe(a.txt)'])
    }
    expect(bench.granted()).toEqual([])
    expect(bench.events().some(({ type }) => type === 'permission/granted')).toBe(false)
  })

  test('what throws when a choice is told keeps no grant from being written', async () => {
    const bench = await mount()
    await bench.plugin('broken', (ctx) => {
      ctx.on('approval/offer-taken', () => {
        throw new Error('broken')
      })
    })
    await bench.reload()
    bench.person.says = 'always'
    await bench.tries('a.txt')
    expect(bench.granted()).toEqual(['probe(a.txt)'])
  })

  // pipeline 6.3
  test('open questions about the same rule are answered by it, others are not', async () => {
    const bench = await mount()
    const first = deferred<Answer>()
    bench.person.says = ({ callId }) => (callId === 'a' ? first.promise : new Promise(() => {}))
    const call = (id: string, path: string) => ({ id, tool: 'probe', arguments: { path } })
    const calls = [call('a', 'x'), call('b', 'x'), call('c', 'y')]
    const running = bench.ctx.tools.batch({ session: bench.session, calls })
    const session = await bench.ctx.sessions.create({ cwd: '/proj' })
    const elsewhere = bench.ctx.tools.execute({ session, call: call('d', 'x') })
    await flushMicrotasks()
    first.resolve({ callId: 'a', kind: 'allow-once', offer: 'probe(x)' })
    await flushMicrotasks()
    expect(bench.ctx.approval.open().map(({ callId }) => callId)).toEqual(['c', 'd'])
    bench.ctx.approval.answer(session.id, { callId: 'd', kind: 'reject' }, 'person')
    expect((await elsewhere).result.outcome.tag).toBe('denied')
    bench.ctx.approval.answer(bench.session.id, { callId: 'c', kind: 'reject' }, 'person')
    const settled = await running
    expect(settled.calls.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'succeeded', 'denied'])
    expect(bench.events().filter(({ type }) => type === 'permission/granted')).toHaveLength(1)
  })

  // pipeline 11
  test('a nested call can be granted, and a grant covers nested calls and others alike', async () => {
    const bench = await mount()
    const outer = probeTool({
      name: 'outer',
      annotations: { readOnly: true },
      body: (_args, run) => run.call('probe', { path: 'a.txt' }),
    })
    await bench.plugin('tool-outer', (ctx) => void ctx.tools.register(outer.definition))
    bench.person.says = 'always'
    const runOuter = async () => (await bench.call({}, { tool: 'outer' })).result.outcome.tag
    expect(await runOuter()).toBe('succeeded')
    expect(bench.offers()).toEqual(['probe(a.txt)'])
    bench.person.says = 'no'
    expect(await runOuter()).toBe('succeeded')
    expect(await bench.tries('a.txt')).toBe('succeeded, asked 0')
    expect(bench.questions).toHaveLength(1)
  })
})

// 1.4, 1.1
describe('always is offered only where it would help', () => {
  test('not where a rule or another plugin asks, or nobody is asked', async () => {
    const byRule = await mount({ config: { ask: ['probe'] } })
    expect(await byRule.tries('a.txt')).toBe('denied, asked 1')
    expect(byRule.offers()).toEqual([])
    const byOther = await mount()
    await byOther.plugin('careful', (ctx) => void ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'sure?' })))
    expect(await byOther.tries('a.txt')).toBe('denied, asked 1')
    expect(byOther.offers()).toEqual([])
  })

  test('not where an allow of this policy does not count', async () => {
    const bench = await mount({ tools: { mayAllow: [] } })
    expect(await bench.tries('a.txt')).toBe('denied, asked 1')
    expect(bench.offers()).toEqual([])
  })

  test('not where the tool does not say which call it is, or a person could not see the rule whole', async () => {
    const bench = await mount()
    const unseen = [5, '', 'a*', 'a\nb', 'a\tb', 'a\u200bb', 'a\u202eb', 'a\u00a0b', 'a\u2028b', 'x'.repeat(400)]
    for (const path of unseen) {
      expect(await bench.tries(path), JSON.stringify(path)).toBe('denied, asked 1')
      expect(bench.offers(), JSON.stringify(path)).toEqual([])
    }
    for (const path of ['x', 'echo "ä (1)" && b  c', 'x'.repeat(393)]) {
      await bench.tries(path)
      expect(bench.offers()).toEqual([`probe(${path})`])
    }
  })

  // pipeline 12.1
  test('the narrowest rule that would have let a denied call pass stands in its trace', async () => {
    const bench = await mount({ tools: { otherwise: 'deny' } })
    expect(await bench.tries('a.txt')).toBe('denied, asked 0')
    const [result] = bench.events().flatMap((event) => (event.type === 'tool/result' ? [event.data] : []))
    expect(result?.trace).toContain('"offers":[{"id":"probe(a.txt)","text":"probe(a.txt)"}]')
  })
})

// 1.1, BUG-020
describe('a grant overrules nobody', () => {
  test('a deny or ask of a rule, the mode plan, and the question of another plugin stand against it', async () => {
    const configs: Partial<Config>[] = [
      { deny: ['probe'] },
      { ask: ['probe(a.txt)'] },
      { mode: 'plan' },
      { mode: 'headless' },
      {},
    ]
    const said: string[] = []
    for (const config of configs) {
      const bench = await mount()
      bench.person.says = 'always'
      await bench.tries('a.txt')
      bench.person.says = 'no'
      await bench.reload(config)
      if (config === configs.at(-1))
        await bench.plugin(
          'careful',
          (ctx) => void ctx.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'sure?' })),
        )
      said.push(await bench.tries('a.txt'))
    }
    expect(said).toEqual([
      'denied, asked 0',
      'denied, asked 1',
      'denied, asked 0',
      'succeeded, asked 0',
      'denied, asked 1',
    ])
  })

  test('whatever is granted, exactly that call passes, and no other verdict changes', () => {
    const word = fc.constantFrom('a', 'a b', '(a)', 'a)', 'x*', '')
    const calls = fc.record({
      tool: fc.constantFrom('bash', 'write', 'bash2'),
      specifier: fc.option(word, { nil: undefined }),
      aliases: fc.constantFrom([], ['Bash'], ['write']),
      annotations: fc.record({ readOnly: fc.boolean() }),
    })
    const rule = fc
      .tuple(
        fc.constantFrom('bash', 'write', 'Bash'),
        fc.option(fc.constantFrom('a', 'a b', '(a)'), { nil: undefined }),
      )
      .map(([tool, specifier]) => parseRule('test', specifier === undefined ? tool : `${tool}(${specifier})`))
    const rules = fc.array(rule, { maxLength: 2 })
    const policies = fc.record({
      mode: fc.constantFrom<Mode>('default', 'accept-edits', 'plan', 'bypass', 'headless'),
      edits: fc.constant(['write']),
      allow: rules,
      ask: rules,
      deny: rules,
    })
    let passed = 0
    fc.assert(
      fc.property(policies, calls, fc.option(calls), (policy, call, other) => {
        const granted = other ?? call
        const text = exactRule(granted)
        const grants: Grant[] = text === undefined ? [] : [{ rule: text, by: 'person', at: 0 }]
        const before = decide(policy, call, [])
        const after = decide(policy, call, grants)
        const isSame = text !== undefined && call.tool === granted.tool && call.specifier === granted.specifier
        const byRule = 'rule' in before && before.rule !== undefined
        const isOpen = before.kind === 'abstain' || (before.kind === 'deny' && policy.mode === 'headless' && !byRule)
        if (isSame && isOpen) passed++
        if (isSame && isOpen) expect(after).toMatchObject({ kind: 'allow', rule: text })
        else expect(after.kind).toBe(before.kind)
      }),
      { numRuns: 2_000, seed: 1 },
    )
    expect(passed).toBeGreaterThan(20)
  })
})
