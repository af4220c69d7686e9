/** Proves how a body is stopped: aborts, deadlines, grace. */
import type { Json } from '@sluice/base'
import type { Call, ExecuteRun, Run } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Bench, steps } from './kit.ts'
import { soundBench } from './sound.ts'

function deadline(bench: Bench, ms: number) {
  return bench.plugin('timeout', (ctx) => {
    ctx.on('tools/execute', (_call, run, next) => {
      run.deadline(ms)
      return next()
    })
  })
}

// 7.6, BUG-001
it('a body that follows the abort is settled as aborted, once, with the reason', async () => {
  for (const how of ['the reason', 'AbortError', 'TimeoutError']) {
    const bench = await soundBench()
    const abort = new AbortController()
    await bench.register(
      probeTool({
        body: (_args, run) =>
          new Promise((_resolve, reject) => {
            run.signal.addEventListener('abort', () =>
              reject(how === 'the reason' ? run.signal.reason : Object.assign(new Error('stopped'), { name: how })),
            )
            abort.abort(new Error('the user pressed stop'))
          }),
      }).definition,
    )
    const { result } = await bench.call('probe', {}, { signal: abort.signal })
    expect(result.outcome, how).toEqual({ tag: 'aborted', executed: 'yes', reason: 'the user pressed stop' })
    expect(JSON.stringify(result.content)).toContain('the user pressed stop')
  }
})

// 7.6
it('a body that ignores the abort is abandoned after the grace, and its late return is dropped and reported', async () => {
  const bench = await soundBench({ config: { graceMs: 2000 } })
  const abort = new AbortController()
  const late = deferred<string>()
  let kept: Run | undefined
  const progress: Json[] = []
  await bench.register(
    probeTool({
      body: (_args, run) => {
        kept = run
        run.context('before')
        abort.abort()
        return late.promise
      },
    }).definition,
  )
  const { calls } = await bench.ctx.tools.batch({
    session: bench.session,
    calls: [{ id: 'c', tool: 'probe', arguments: {} }],
    signal: abort.signal,
    onProgress: (_id, update) => void progress.push(update),
  })
  expect(bench.world.clock.monotonic()).toBe(2000)
  expect(calls[0]?.result).toMatchObject({ outcome: { tag: 'aborted', executed: 'unknown' }, contexts: ['before'] })
  kept?.progress('still here')
  kept?.context('still here')
  late.resolve('too late')
  await flushMicrotasks()
  expect(progress).toEqual([])
  expect(bench.results()).toHaveLength(1)
  expect(JSON.stringify(bench.session.events)).not.toContain('too late')
  expect(bench.reports).toEqual([expect.stringContaining('after it was abandoned')])
})

// 7.6
it('whether an abandoned body took effect stays unknown, also when it ends before the call does', async () => {
  const bench = await soundBench({ config: { graceMs: 50 } })
  const abort = new AbortController()
  const late = deferred()
  const body = () => {
    abort.abort()
    return late.promise
  }
  await bench.register(probeTool({ body }).definition)
  await bench.plugin('slow', (ctx) => {
    ctx.on('tools/execute', async (_call, _run, next) => {
      const attempt = await next()
      late.resolve()
      await flushMicrotasks()
      return attempt
    })
  })
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome).toMatchObject({ tag: 'aborted', executed: 'unknown' })
})

// 7.6
it('a specific error of the body beats the abort', async () => {
  const bench = await soundBench()
  const abort = new AbortController()
  await bench.register(
    probeTool({
      body: () => {
        abort.abort()
        throw new Error('the disk is full')
      },
    }).definition,
  )
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', message: 'the disk is full' })
})

// 7.6
it('an AbortError or TimeoutError of a body that nobody stopped is an error like others', async () => {
  const bench = await soundBench()
  for (const name of ['AbortError', 'TimeoutError']) {
    await bench.register(
      probeTool({ name, body: () => Promise.reject(Object.assign(new Error('a request was cut'), { name })) })
        .definition,
    )
    const { result } = await bench.call(name)
    expect(result.outcome).toMatchObject({ tag: 'failed', message: 'a request was cut' })
  }
})

// 7.6
it('a success within the grace is kept and marked late', async () => {
  for (const by of ['abort', 'deadline'] as const) {
    const bench = await soundBench({ config: { graceMs: 100 } })
    const abort = new AbortController()
    if (by === 'deadline') await deadline(bench, 50)
    await bench.register(
      probeTool({
        body: (_args, run) =>
          new Promise((resolve) => {
            run.signal.addEventListener('abort', () => void bench.world.clock.timer(99, () => resolve('saved')))
            if (by === 'abort') abort.abort()
          }),
      }).definition,
    )
    const { result } = await bench.call('probe', {}, { signal: abort.signal })
    expect(result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes', late: true }, value: 'saved' })
  }
})

// 7.6
it('a success without abort or deadline is not late', async () => {
  const bench = await soundBench()
  await deadline(bench, 50)
  await bench.register(probeTool().definition)
  expect((await bench.call('probe')).result.outcome).toEqual({ tag: 'succeeded', executed: 'yes' })
})

// 7.6
it('a deadline fires the signal, gives the grace, and says timed-out', async () => {
  const bench = await soundBench({ config: { graceMs: 2000 } })
  await deadline(bench, 300)
  const reasons: unknown[] = []
  const watch = (run: Run) => run.signal.addEventListener('abort', () => reasons.push(run.signal.reason))
  const bodies: Record<string, (run: Run) => unknown> = {
    follows: (run) =>
      new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))),
    hangs: () => new Promise(() => {}),
  }
  for (const [name, body] of Object.entries(bodies))
    await bench.register(
      probeTool({
        name,
        overlap: 'parallel',
        body: (_args, run) => {
          watch(run)
          return body(run)
        },
      }).definition,
    )
  const outcomes = [(await bench.call('follows')).result.outcome, (await bench.call('hangs')).result.outcome]
  expect(outcomes).toEqual([
    { tag: 'timed-out', executed: 'yes', reason: 'no end within 300 ms' },
    { tag: 'timed-out', executed: 'unknown', reason: 'no end within 300 ms' },
  ])
  expect(bench.world.clock.monotonic()).toBe(300 + 300 + 2000)
  expect(reasons).toEqual([
    expect.objectContaining({ name: 'TimeoutError' }),
    expect.objectContaining({ name: 'TimeoutError' }),
  ])
})

// 7.6
it('of abort and deadline the first one gives the outcome', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  await deadline(bench, 50)
  const abort = new AbortController()
  await bench.register(
    probeTool({
      body: () => {
        bench.world.clock.timer(40, () => abort.abort(new Error('stop')))
        return new Promise(() => {})
      },
    }).definition,
  )
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome).toEqual({ tag: 'aborted', executed: 'unknown', reason: 'stop' })
})

// 7.6
it('an inner wrapper that hangs does not outlive the deadline around it', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  await bench.plugin('timeout', (ctx) => {
    ctx.on(
      'tools/execute',
      (_call, run, next) => {
        run.deadline(50)
        return next()
      },
      { order: -1 },
    )
  })
  const probe = probeTool()
  await bench.register(probe.definition)
  const hold = deferred()
  await bench.plugin('hung', (ctx) => {
    ctx.on('tools/execute', async (_call: Call, _run: ExecuteRun, next) => {
      await hold.promise
      return next()
    })
  })
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toEqual({ tag: 'timed-out', executed: 'no', reason: 'no end within 50 ms' })
  expect(bench.world.clock.monotonic()).toBeLessThanOrEqual(250)
  hold.resolve()
  await flushMicrotasks()
  expect(probe.runs).toBe(0)
  expect(steps(settled)).toContain('execute:done')
})
