/** Proves post-execute: each listener once, on the newest result, in whatever order they answer. */
import { lossless } from '@sluice/base'
import type { ToolResult } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { review, textOf, endings, tags, type Review } from './reviews.ts'

// 8.1
it('without next() an answer applies first and later listeners see it, with next() it applies to what they left', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 'made' }).definition)
  const seen: string[] = []
  const see = (name: string, result: ToolResult) => void seen.push(`${name} sees ${textOf(result)}`)
  await review(
    bench,
    'first',
    (_call, result) => {
      see('first', result)
      return { kind: 'replace', content: `first(${textOf(result)})` }
    },
    1,
  )
  await review(
    bench,
    'second',
    async (_call, result, next) => {
      see('second', result)
      const { result: left } = await next()
      see('second then', left)
      return { kind: 'replace', content: `second(${textOf(left)})` }
    },
    2,
  )
  await review(
    bench,
    'third',
    (_call, result) => {
      see('third', result)
      return { kind: 'replace', content: `third(${textOf(result)})` }
    },
    3,
  )
  const settled = await bench.call('probe')
  expect(seen).toEqual([
    'first sees made',
    'second sees first(made)',
    'third sees first(made)',
    'second then sees third(first(made))',
  ])
  expect(textOf(settled.result)).toBe('second(third(first(made)))')
  expect(steps(settled)).toContain('post-execute:replace')
})

// 8.1
it('each listener runs once, whether others call next() twice, late, or not at all', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const ran: string[] = []
  const reviews: Record<string, Review> = {
    twice: async (_call, _result, next) => {
      await next()
      return next()
    },
    never: () => ({ kind: 'accept' }),
    'not awaited': (_call, _result, next) => {
      void next()
      return { kind: 'accept' }
    },
    both: async (_call, _result, next) => {
      await Promise.all([next(), next()])
      return { kind: 'accept' }
    },
    last: () => ({ kind: 'accept' }),
  }
  for (const [index, [name, listener]] of Object.entries(reviews).entries())
    await review(
      bench,
      name,
      (...all) => {
        ran.push(name)
        return listener(...all)
      },
      index,
    )
  const { result } = await bench.call('probe')
  expect(ran).toEqual(Object.keys(reviews))
  expect(result.outcome.tag).toBe('succeeded')
})

// 8.1
it('an answer given while a later listener runs applies to what the later one left', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 'made' }).definition)
  const hold = deferred()
  await review(
    bench,
    'hasty',
    (_call, _result, next) => {
      void next()
      return { kind: 'replace', content: 'hasty' }
    },
    1,
  )
  await review(
    bench,
    'slow',
    async (_call, result) => {
      await hold.promise
      return { kind: 'replace', content: `slow(${textOf(result)})` }
    },
    2,
  )
  const settling = bench.call('probe')
  await flushMicrotasks()
  hold.resolve()
  expect(textOf((await settling).result)).toBe('hasty')
})

// 8.1, 9.1
it('an answer that no longer fits what later listeners left fails with its plugin, and the call settles', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 'made' }).definition)
  const hold = deferred()
  await review(bench, 'hasty', (_call, _result, next) => (void next(), { kind: 'replace', value: 'new' }), 1)
  await review(bench, 'slow', () => hold.promise.then(() => ({ kind: 'block', reason: 'no' })), 2)
  const settling = bench.call('probe')
  await flushMicrotasks()
  hold.resolve()
  const { result } = await settling
  expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'yes' })
  expect(textOf(result)).toContain('hasty')
  expect(textOf(result)).not.toContain('new')
})

// 8.1, 12.1
it('an answer that is what next() gave is a pass, others are recorded with their plugin and their own time', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  const passes = await review(bench, 'passes', (_call, _result, next) => next(), 1)
  const adds = await review(
    bench,
    'adds',
    async (_call, _result, next) => {
      await wait(10)
      await next()
      return { kind: 'accept', contexts: ['look here'] }
    },
    2,
  )
  const slow = await review(
    bench,
    'slow',
    async () => {
      await wait(500)
      return { kind: 'replace', content: 'x' }
    },
    3,
  )
  const silent = await review(bench, 'silent', () => ({ kind: 'accept' }), 4)
  const settled = await bench.call('probe')
  const trace = JSON.parse(settled.data.trace ?? '[]') as { stage: string; asked?: unknown }[]
  expect(trace.find((step) => step.stage === 'post-execute')?.asked).toEqual([
    `passes#${passes.uid}`,
    { plugin: `adds#${adds.uid}`, said: 'accept', ms: 10 },
    { plugin: `slow#${slow.uid}`, said: 'replace', ms: 500 },
    `silent#${silent.uid}`,
  ])
})

// 8.1
it('results are frozen JSON on every path, and an attempt to change one is blamed on its plugin', async () => {
  const { bench, end } = await endings()
  const seen: ToolResult[] = []
  let forge = false
  const plugin = await review(bench, 'forger', (_call, result, next) => {
    seen.push(result)
    if (forge) Object.assign(result.outcome, { tag: 'succeeded' })
    return next()
  })
  for (const tag of tags) await end(tag)
  expect(seen.map(({ outcome }) => outcome.tag)).toEqual(tags)
  for (const result of seen)
    for (const part of [result, result.outcome, result.content, result.content[0], result.contexts, result.value])
      expect(Object.isFrozen(part)).toBe(true)
  for (const result of seen) expect(lossless(result)).toStrictEqual(result)
  forge = true
  expect((await end('succeeded')).result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'yes',
    by: `forger#${plugin.uid}`,
  })
})

// 8.2
it('a new value under the old content is what later listeners, log and caller get', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 1 }).definition)
  const seen: unknown[] = []
  await review(bench, 'first', (_call, { content }) => ({ kind: 'replace', value: 2, content }), 1)
  await review(bench, 'second', (_call, result, next) => (seen.push(result.value), next()), 2)
  const { result, data } = await bench.call('probe')
  expect([...seen, result.value, data.value, textOf(result)]).toEqual([2, 2, 2, '1'])
})

// 8.1
it('next() gives the last listener the same answer each time, whatever an outer one says meanwhile', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const hold = deferred()
  const given: unknown[] = []
  await review(bench, 'hasty', (_call, _result, next) => (void next(), { kind: 'accept', contexts: ['more'] }), 1)
  await review(
    bench,
    'last',
    async (_call, _result, next) => {
      given.push(next())
      await hold.promise
      given.push(next())
      return next()
    },
    2,
  )
  const settling = bench.call('probe')
  await flushMicrotasks()
  hold.resolve()
  expect((await settling).result.contexts).toEqual(['more'])
  expect(given[1]).toBe(given[0])
})

// 8.1
it('nobody can change what next() gives to others', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const seen: string[] = []
  await review(bench, 'outer', async (_call, _result, next) => {
    const passed = await next()
    seen.push(textOf(passed.result))
    return passed
  })
  const forger = await review(
    bench,
    'forger',
    async (_call, result, next) => Object.assign(await next(), { result: { ...result, content: [] } }),
    1,
  )
  await review(bench, 'last', (_call, _result, next) => next(), 2)
  const { result } = await bench.call('probe')
  expect(result.outcome).toMatchObject({ tag: 'failed', by: `forger#${forger.uid}` })
  expect(seen).toEqual(['probed'])
})

// 8.1
it('contexts add up in the order in which answers apply, and one listener is enough to end the turn', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: (_args, run) => run.context('body') }).definition)
  await review(bench, 'a', () => ({ kind: 'accept', contexts: ['a', 'half \ud800'] }), 1)
  await review(
    bench,
    'b',
    async (_call, _result, next) => {
      await next()
      return { kind: 'accept', contexts: ['b'], endTurn: true }
    },
    2,
  )
  await review(bench, 'c', () => ({ kind: 'accept', contexts: ['c'] }), 3)
  const { result } = await bench.call('probe')
  expect(result).toMatchObject({ contexts: ['body', 'a', 'half \ufffd', 'c', 'b'], endTurn: true })
  expect(Object.isFrozen(result.contexts)).toBe(true)
})

// 8.4
it('listeners run for successes, failures and denials, and can tell whether the body ran', async () => {
  const { bench, end } = await endings()
  const seen: string[] = []
  await review(bench, 'watch', (_call, { outcome }, next) => {
    seen.push(`${outcome.tag} ${outcome.executed}`)
    return next()
  })
  for (const tag of tags) await end(tag)
  expect(seen).toEqual(['succeeded yes', 'failed yes', 'denied no', 'timed-out unknown', 'aborted unknown'])
})
