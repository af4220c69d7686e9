/** Proves what is published after post-execute failed, hung or came too late. */
import type { PostVerdict } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { review, textOf, endings } from './reviews.ts'

// 9.1
it('an answer that is no answer of the stage is a throw: neither content nor value of the candidate is published', async () => {
  const { bench, end } = await endings()
  let answer: unknown
  const plugin = await review(bench, 'odd', () => answer)
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('do not look')
      },
    },
  )
  const odd = [
    undefined,
    null,
    'accept',
    {},
    { kind: 'great' },
    { kind: 'block' },
    { kind: 'block', reason: '' },
    { kind: 'replace' },
    { kind: 'replace', content: 5 },
    { kind: 'replace', content: [{ type: 'text', text: 'x', extra: 1 }] },
    { kind: 'accept', contexts: 'one' },
    { kind: 'accept', contexts: [1] },
    trap,
    Promise.reject(new Error('tripped')),
  ]
  for (answer of odd) {
    const settled = await end('succeeded')
    expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', by: `odd#${plugin.uid}` })
    expect(settled.result.value).toBeUndefined()
    expect(JSON.stringify([settled.result.content, settled.data.card])).not.toContain('fine')
    expect(textOf(settled.result)).toContain(`odd#${plugin.uid}`)
    expect(steps(settled)).toContain('post-execute:threw')
  }
  for (answer of [undefined, { kind: 'accept', contexts: [1] }])
    expect((await end('succeeded')).result.outcome).toMatchObject({ code: 'TOOLS_BAD_ANSWER' })
})

// 9.1, BUG-004
it('a throw after a failure or a denial keeps what happened and withholds the content', async () => {
  const { bench, end } = await endings()
  await review(bench, 'clumsy', () => {
    throw new Error('tripped')
  })
  for (const [tag, executed, secret] of [
    ['failed', 'yes', 'it broke'],
    ['denied', 'no', 'not today'],
  ] as const) {
    const settled = await end(tag)
    expect(settled.result.outcome).toMatchObject({ tag, executed })
    expect(textOf(settled.result)).not.toContain(secret)
    expect(textOf(settled.result)).toContain('LISTENER_FAILED')
    expect(bench.results().filter(({ callId }) => callId === settled.callId)).toHaveLength(1)
  }
})

// 9.1
it('after a throw no further listener is asked, and what an earlier one answers afterwards changes nothing', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  let asked = 0
  await review(
    bench,
    'outer',
    async (_call, _result, next) => {
      await next()
      return { kind: 'replace', content: 'all fine', contexts: ['late'] } satisfies PostVerdict
    },
    1,
  )
  const clumsy = await review(bench, 'clumsy', () => Promise.reject(new Error('tripped')), 2)
  await review(
    bench,
    'last',
    () => {
      asked++
      return { kind: 'accept' }
    },
    3,
  )
  const { result } = await bench.call('probe')
  expect(result.outcome).toMatchObject({ tag: 'failed', by: `clumsy#${clumsy.uid}` })
  expect(textOf(result)).not.toContain('all fine')
  expect([asked, result.contexts]).toEqual([0, []])
})

// 1.4
it('a listener that uses up its own time has thrown', async () => {
  const bench = await soundBench({
    config: { listenerTimeoutMs: 10_000, listenerTimeouts: { 'tools/post-execute': 100 } },
  })
  await bench.register(probeTool().definition)
  const plugin = await review(bench, 'hung', () => new Promise(() => {}))
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'yes',
    code: 'LISTENER_EXPIRED',
    by: `hung#${plugin.uid}`,
  })
  expect(steps(settled)).toContain('post-execute:expired')
  expect(bench.world.clock.monotonic()).toBe(100)
})

// 7.7
it('after an abort the listeners together have the grace; then the content is withheld and whether the body ran is kept', async () => {
  for (const when of ['before', 'during'] as const) {
    const bench = await soundBench({ config: { graceMs: 100 } })
    const abort = new AbortController()
    const late = deferred<unknown>()
    await bench.register(
      probeTool({
        body: () => {
          if (when === 'before') abort.abort()
          return 'secret'
        },
      }).definition,
    )
    await review(
      bench,
      'first',
      async (_call, _result, next) => {
        if (when === 'during') abort.abort()
        await new Promise<void>((resolve) => bench.world.clock.timer(60, resolve))
        return next()
      },
      1,
    )
    const hung = await review(bench, 'hung', () => late.promise, 2)
    let asked = 0
    await review(bench, 'last', (_call, _result, next) => (asked++, next()), 3)
    const settled = await bench.call('probe', {}, { signal: abort.signal })
    expect(settled.result.outcome, when).toMatchObject({
      tag: 'failed',
      executed: 'yes',
      code: 'LISTENER_ABANDONED',
      by: `hung#${hung.uid}`,
    })
    expect(bench.world.clock.monotonic()).toBe(100)
    expect(JSON.stringify(settled.data)).not.toContain('secret')
    const text = JSON.stringify(settled)
    late.resolve({ kind: 'replace', content: 'late', contexts: ['late'], endTurn: true })
    await flushMicrotasks()
    expect([asked, JSON.stringify(settled)]).toEqual([0, text])
  }
})

// 7.7
it('an abort during the review of a denial diverts nothing either', async () => {
  const { bench } = await endings()
  const abort = new AbortController()
  await review(bench, 'stopper', (_call, _result, next) => {
    abort.abort()
    return next()
  })
  const settled = await bench.call('end', { as: 'denied' }, { signal: abort.signal })
  expect(settled.result.outcome).toMatchObject({ tag: 'denied', reason: 'not today' })
  expect(steps(settled)).toContain('post-execute:accept')
})

// 8.1
it('a late answer of a listener that has expired changes nothing', async () => {
  const bench = await soundBench({ config: { listenerTimeoutMs: 50 } })
  await bench.register(probeTool().definition)
  const late = deferred<unknown>()
  await review(
    bench,
    'late',
    async (_call, _result, next) => {
      const answer = await late.promise
      await next()
      return answer
    },
    1,
  )
  let asked = 0
  await review(
    bench,
    'last',
    () => {
      asked++
      return { kind: 'accept' }
    },
    2,
  )
  const settled = await bench.call('probe')
  const text = JSON.stringify(settled)
  late.resolve({ kind: 'accept', contexts: ['late'] })
  await flushMicrotasks()
  expect([asked, JSON.stringify(settled) === text]).toEqual([0, true])
})
