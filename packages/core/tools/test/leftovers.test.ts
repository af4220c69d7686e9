/** Proves that a call has no timer left in the instant in which it settles, and that what comes too late changes nothing. */
import type { Attempt, Run } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { wrap } from './wrappers.ts'

const follow = (run: Run) =>
  new Promise<never>((_resolve, reject) =>
    run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)),
  )

// 1.4, 7.6, 12.2
it('a call that settles in time leaves no timer, neither of deadlines nor of graces nor of listeners', async () => {
  const abort = { now: () => {} }
  const bodies: Record<string, (run: Run) => unknown> = {
    'ends at once': () => 'done',
    'ends later': () => flushMicrotasks().then(() => 'done'),
    'follows an abort': (run) => {
      queueMicrotask(() => abort.now())
      return follow(run)
    },
    'follows a wrapper': (run) => follow(run),
    'follows a deadline': (run) => follow(run),
  }
  for (const [name, body] of Object.entries(bodies)) {
    const bench = await soundBench({ config: { graceMs: 700 } })
    const controller = new AbortController()
    abort.now = () => controller.abort()
    await bench.register(probeTool({ body: (_args, run) => body(run) }).definition)
    await wrap(bench, 'timeout', (_call, run, next) => {
      run.deadline(name === 'follows a deadline' ? 10 : 5000)
      return next()
    })
    await wrap(
      bench,
      'race',
      (_call, _run, next) =>
        name === 'follows a wrapper' ? Promise.race([next(), flushMicrotasks().then(() => undefined)]) : next(),
      -1,
    )
    await bench.plugin('listens', (ctx) => {
      ctx.on('tools/prepare', async (_call, next) => next())
      ctx.on('tools/pre-execute', async (_call, next) => next())
      ctx.on('tools/post-execute', async (_call, _result, next) => next())
    })
    await bench.call('probe', {}, { signal: controller.signal })
    expect(bench.world.clock.pending, name).toBe(0)
    expect(bench.world.clock.monotonic(), name).toBe(name === 'follows a deadline' ? 10 : 0)
  }
})

// 7.7, 12.2
it('an abort after the body has answered diverts nothing, says nothing about the body, and leaves no timer either', async () => {
  const bench = await soundBench({ config: { graceMs: 700 } })
  const abort = new AbortController()
  await bench.register(probeTool().definition)
  await bench.plugin('stopper', (ctx) => {
    ctx.on('tools/post-execute', async (_call, _result, next) => {
      abort.abort()
      await flushMicrotasks()
      return next()
    })
  })
  const settled = await bench.call('probe', {}, { signal: abort.signal })
  expect(settled.result.outcome).toEqual({ tag: 'succeeded', executed: 'yes' })
  expect(settled.result.value).toBe('probed')
  expect(steps(settled)).toContain('post-execute:accept')
  expect(bench.world.clock.pending).toBe(0)
})

// 1.4
it('a wrapper that hands on next() at once is not timed for the body', async () => {
  const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
  await bench.register(
    probeTool({ body: () => new Promise<void>((resolve) => bench.world.clock.timer(5000, resolve)) }).definition,
  )
  await wrap(bench, 'hands on', (_call, _run, next) => next())
  expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
})

// 7.6, 7.5
it('a body that settles after it was abandoned, while its nested calls end, stays abandoned', async () => {
  const bench = await soundBench({ config: { graceMs: 50 } })
  const abort = new AbortController()
  const late = deferred<string>()
  await bench.register(probeTool({ name: 'deaf', body: () => new Promise(() => {}) }).definition)
  await bench.register(
    probeTool({
      body: (_args, run) => {
        void run.call('deaf', {})
        abort.abort()
        bench.world.clock.timer(60, () => {
          run.context('too late')
          run.endTurn()
          run.log('too late')
          run.progress('too late')
          late.resolve('too late')
        })
        return late.promise
      },
    }).definition,
  )
  await bench.plugin('slow review', (ctx) => {
    ctx.on('tools/post-execute', async (_call, _result, next) => {
      await new Promise<void>((resolve) => bench.world.clock.timer(20, resolve))
      return next()
    })
  })
  const progress: unknown[] = []
  const { calls } = await bench.ctx.tools.batch({
    session: bench.session,
    calls: [{ id: 'c', tool: 'probe', arguments: {} }],
    signal: abort.signal,
    onProgress: (_id, update) => void progress.push(update),
  })
  expect(calls[0]?.result).toMatchObject({
    outcome: { tag: 'aborted', executed: 'unknown' },
    contexts: [],
    endTurn: false,
  })
  expect(progress).toEqual([])
  expect(bench.reports).toEqual([expect.stringContaining('settled as succeeded after it was abandoned')])
})

// 7.2, 7.6
it('a try after an abandoned one that has ended says for itself whether the body ran', async () => {
  const bench = await soundBench({ config: { graceMs: 10 } })
  const late = deferred<string>()
  await bench.register(
    probeTool({
      annotations: { idempotent: true },
      body: (_args, run) => (run.attempt === 1 ? late.promise : 'second'),
    }).definition,
  )
  await wrap(bench, 'retry', async (_call, run, next) => {
    run.deadline(20)
    await next()
    late.resolve('first')
    await flushMicrotasks()
    return next()
  })
  expect((await bench.call('probe')).result).toMatchObject({
    outcome: { tag: 'succeeded', executed: 'yes' },
    value: 'second',
  })
})

// 7.1
it('every text of an attempt is well-formed when a wrapper reads it', async () => {
  const bench = await soundBench()
  const texts: unknown[] = []
  await bench.register(probeTool({ body: () => Promise.reject(new Error('message \ud800')) }).definition)
  const read = async (_call: unknown, _run: unknown, next: () => Promise<Attempt>) => {
    const attempt = await next()
    texts.push(...Object.values(attempt))
    return attempt
  }
  await wrap(bench, 'outer', read, 1)
  let made: unknown
  const inner = await wrap(bench, 'inner', (_call, _run, next) => made ?? next(), 2)
  await bench.call('probe')
  for (made of [
    { status: 'failed', code: 'code \ud800', message: 'message \ud800' },
    { status: 'aborted', reason: 'reason \ud800' },
  ])
    await bench.call('probe')
  await inner.dispose()
  const abort = new AbortController()
  await wrap(
    bench,
    'stopper',
    async (_call, _run, next) => {
      abort.abort('reason \ud800')
      return next()
    },
    3,
  )
  await bench.call('probe', {}, { signal: abort.signal })
  const found = texts.filter((text) => String(text).includes('\ufffd') || !String(text).isWellFormed())
  expect(found).toEqual(['message \ufffd', 'code \ufffd', 'message \ufffd', 'reason \ufffd', 'reason \ufffd'])
})

// 7.6, BUG-079
it('an error that cannot be looked at, thrown after an abort, is told like others', async () => {
  const bench = await soundBench()
  const abort = new AbortController()
  const shy = Object.defineProperty(new Error('shy'), 'name', {
    get: () => {
      throw new Error('no entry')
    },
  })
  await bench.register(
    probeTool({
      body: () => {
        abort.abort()
        throw shy
      },
    }).definition,
  )
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', message: 'shy' })
})

// 7.5, 10.4
it('what a body is given and what a batch gives back is frozen', async () => {
  const bench = await soundBench()
  let given: unknown
  await bench.register(probeTool({ body: (_args, run) => (given = run) && 'x' }).definition)
  const batch = await bench.ctx.tools.batch({
    session: bench.session,
    calls: [{ id: 'undefined', tool: 'probe', arguments: {} }],
  })
  for (const part of [given, batch, batch.calls, batch.contexts, batch.calls[0]])
    expect(Object.isFrozen(part)).toBe(true)
  expect(batch.calls[0]?.callId).toBe('undefined')
})

// 6.1
it('an approval service that fails is reported to a person', async () => {
  const bench = await soundBench({ config: { otherwise: 'ask' } })
  await bench.register(probeTool().definition)
  const service = { ask: () => Promise.reject(new Error('no terminal')) }
  await bench.ctx.plugin({
    name: 'approval',
    provide: ['approval'],
    apply: (ctx) => void ctx.provide('approval', service as never),
  })
  expect((await bench.call('probe')).result.outcome).toMatchObject({ tag: 'denied', stage: 'approval' })
  expect(bench.reports).toEqual([expect.stringContaining('no terminal')])
})

// 9.4
it('a card is well-formed where its text is cut', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const cards: string[] = []
  await bench.plugin('watch', (ctx) => {
    ctx.on('tools/pre-execute', ({ card }, next) => {
      cards.push(JSON.stringify(card))
      return next()
    })
  })
  for (let pad = 380; pad < 400; pad++) await bench.call('probe', { text: `${'x'.repeat(pad)}😀😀😀` })
  expect(cards.filter((card) => card.includes('\\ud83d'))).toEqual([])
  expect(cards).toHaveLength(20)
})
