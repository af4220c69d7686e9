/** Proves what post-execute may replace, and what a block does. */
import { probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { review, textOf, endings, tags } from './reviews.ts'

// 8.2
it('content may be replaced on every result and keeps its tag', async () => {
  const { bench, end } = await endings()
  await review(bench, 'painter', () => ({ kind: 'replace', content: 'painted' }))
  for (const tag of tags) {
    const settled = await end(tag)
    expect([settled.result.outcome.tag, textOf(settled.result)]).toEqual([tag, 'painted'])
    expect(steps(settled)).toContain('post-execute:replace')
  }
})

// 8.2
it('a new value is taken on a success only, checked like that of a body, and rendered again', async () => {
  const bench = await soundBench()
  const plain = {
    output: { type: 'object', required: ['n'] },
    render: (value: unknown) => `n is ${JSON.stringify(value)}`,
  }
  await bench.register(probeTool({ ...plain, body: () => ({ n: 1 }) }).definition)
  await bench.register(probeTool({ name: 'broken', body: () => Promise.reject(new Error('it broke')) }).definition)
  let answer: unknown
  const plugin = await review(bench, 'changer', () => answer)
  answer = { kind: 'replace', value: { n: 2 } }
  expect((await bench.call('probe')).result).toMatchObject({ value: { n: 2 }, content: [{ text: 'n is {"n":2}' }] })
  answer = { kind: 'replace', value: { n: 2 }, content: 'two' }
  expect((await bench.call('probe')).result).toMatchObject({
    value: { n: 2 },
    content: [{ text: 'two' }],
    endTurn: false,
  })
  const refused = { tag: 'failed', executed: 'yes', code: 'TOOLS_BAD_ANSWER', by: `changer#${plugin.uid}` }
  for (answer of [
    { kind: 'replace', value: {} },
    { kind: 'replace', value: { n: 1n } },
  ])
    expect((await bench.call('probe')).result.outcome).toMatchObject(refused)
  answer = { kind: 'replace', value: { n: 2 } }
  const failed = await bench.call('broken')
  expect(failed.result.outcome).toMatchObject({ tag: 'failed', message: 'it broke' })
  expect(steps(failed)).toContain('post-execute:threw')
})

// 8.2
it('content replaced alone withdraws the value from log and program, unless it says that the value stays', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ name: 'inner', body: () => 'secret' }).definition)
  await bench.register(
    probeTool({ name: 'outer', body: async (_args, run) => ({ got: await run.call('inner', {}) }) }).definition,
  )
  let keep = false
  await review(bench, 'redact', (call) =>
    call.tool === 'inner'
      ? { kind: 'replace', content: 'redacted', ...(keep && { keepValue: true }) }
      : { kind: 'accept' },
  )
  expect((await bench.call('outer')).result.value).toEqual({ got: null })
  expect(JSON.stringify(bench.session.events)).not.toContain('secret')
  keep = true
  expect((await bench.call('outer')).result.value).toEqual({ got: 'secret' })
})

// 8.3
it('a block makes a success into a failure with the feedback, for good', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 'secret' }).definition)
  const blocker = await review(bench, 'blocker', () => ({ kind: 'block', reason: 'the tests fail now' }), 1)
  await review(bench, 'optimist', (_call, result) => ({ kind: 'replace', content: `all fine? ${textOf(result)}` }), 2)
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toEqual({
    tag: 'failed',
    executed: 'yes',
    code: 'TOOLS_BLOCKED',
    message: 'the tests fail now',
    by: `blocker#${blocker.uid}`,
  })
  expect(textOf(settled.result)).toBe('all fine? the tests fail now')
  expect(settled.result.value).toBeUndefined()
  expect(JSON.stringify(settled.data)).not.toContain('secret')
  expect(steps(settled)).toContain('post-execute:block')
})

// 8.3
it('a block by a later listener stands, whatever an earlier one returns after next()', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  let answer: unknown
  await review(
    bench,
    'outer',
    async (_call, _result, next) => {
      const passed = await next()
      return answer ?? passed
    },
    1,
  )
  await review(bench, 'inner', () => ({ kind: 'block', reason: 'no' }), 2)
  for (answer of [undefined, { kind: 'accept' }, { kind: 'replace', content: 'all fine' }]) {
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'failed', code: 'TOOLS_BLOCKED' })
    expect(settled.result.value).toBeUndefined()
    expect(steps(settled)).toContain('post-execute:block')
  }
  answer = { kind: 'replace', value: 'all fine' }
  expect((await bench.call('probe')).result.outcome.tag).toBe('failed')
})

// 8.3
it('a block of a result that is no success replaces its content only', async () => {
  const { bench, end } = await endings()
  const before = new Map<string, unknown>()
  for (const tag of tags.slice(1, 4)) before.set(tag, (await end(tag)).result.outcome)
  await review(bench, 'blocker', () => ({ kind: 'block', reason: 'look at the log' }))
  for (const tag of tags.slice(1, 4)) {
    const settled = await end(tag)
    expect(settled.result.outcome).toEqual(before.get(tag))
    expect(textOf(settled.result)).toBe('look at the log')
    expect(steps(settled)).toContain('post-execute:block')
  }
})
