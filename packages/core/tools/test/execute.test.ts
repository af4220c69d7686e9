/** Proves the execute stage: wrappers around the body, and the attempts that pass through them. */
import type { Attempt, Call, ExecuteRun, Run } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { wrap, cached } from './wrappers.ts'

// 7.1
it('wrappers nest around the body in listener order', async () => {
  const bench = await soundBench()
  const seen: string[] = []
  await bench.register(probeTool({ body: () => void seen.push('body') }).definition)
  for (const [name, order] of [
    ['inner', 5],
    ['outer', -5],
  ] as const)
    await wrap(
      bench,
      name,
      async (_call, _run, next) => {
        seen.push(`${name} in`)
        const attempt = await next()
        seen.push(`${name} out`)
        return attempt
      },
      order,
    )
  const { result } = await bench.call('probe')
  expect(seen).toEqual(['outer in', 'inner in', 'body', 'inner out', 'outer out'])
  expect(result.outcome).toEqual({ tag: 'succeeded', executed: 'yes' })
})

// 7.1
it('next() resolves to an attempt whatever the body does, and each attempt leaves as done', async () => {
  const bench = await soundBench({ config: { graceMs: 50 } })
  const statuses: string[] = []
  await wrap(bench, 'watch', async (_call, run, next) => {
    run.deadline(1000)
    const attempt = await next()
    statuses.push(`${attempt.status} ${attempt.executed}`)
    return attempt
  })
  const abort = new AbortController()
  const bodies: Record<string, (run: Run) => unknown> = {
    good: () => 'fine',
    bad: () => Promise.reject(new Error('broken')),
    hung: () => new Promise(() => {}),
    stopped: (run) => {
      abort.abort(new Error('enough'))
      return Promise.reject(run.signal.reason as Error)
    },
  }
  for (const [name, body] of Object.entries(bodies))
    await bench.register(probeTool({ name, overlap: 'parallel', body: (_args, run) => body(run) }).definition)
  const settled = []
  for (const name of Object.keys(bodies))
    settled.push(await bench.call(name, {}, name === 'stopped' ? { signal: abort.signal } : {}))
  expect(statuses).toEqual(['succeeded yes', 'failed yes', 'timed-out unknown', 'aborted yes'])
  expect(settled.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'failed', 'timed-out', 'aborted'])
  for (const one of settled) expect(steps(one)).toContain('execute:done')
})

// 7.1, 9.1
it('a throw of a wrapper publishes its code, the plugin and whether the body ran, but not what the body returned', async () => {
  const bench = await soundBench()
  const probe = probeTool({ body: () => 'secret' })
  await bench.register(probe.definition)
  let when: 'before' | 'after' | 'sync' = 'before'
  const wrapper = await wrap(bench, 'clumsy', (_call, _run, next) => {
    if (when === 'sync') throw new Error('tripped')
    if (when === 'before') return Promise.reject(new Error('tripped'))
    return next().then(() => {
      throw new Error('tripped')
    })
  })
  for (const [at, executed, runs] of [
    ['before', 'no', 0],
    ['sync', 'no', 0],
    ['after', 'yes', 1],
  ] as const) {
    when = at
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toEqual({
      tag: 'failed',
      executed,
      code: 'LISTENER_FAILED',
      message: 'tripped',
      by: `clumsy#${wrapper.uid}`,
    })
    const text = `clumsy#${wrapper.uid} failed (LISTENER_FAILED): tripped`
    expect(settled.result.content).toEqual([{ type: 'text', text }])
    expect(settled.result.value).toBeUndefined()
    expect(JSON.stringify(settled.data)).not.toContain('secret')
    expect(steps(settled)).toEqual(expect.arrayContaining(['execute:threw', 'normalize:normalized']))
    expect(probe.runs).toBe(runs)
  }
  expect(bench.world.clock.monotonic()).toBe(0)
})

// 7.1
it('a throw of an inner wrapper ends the call whatever outer wrappers make of it', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  await wrap(bench, 'outer', async (_call, _run, next) => ((await next()).status === 'failed' ? cached : cached), -1)
  const inner = await wrap(bench, 'inner', () => Promise.reject(new Error('tripped')))
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({ tag: 'failed', by: `inner#${inner.uid}` })
  expect(steps(settled)).toContain('execute:threw')
})

// 7.1, 9.1
it('a deadline of a wrapper is added to the abort of the caller, which still reaches the body', async () => {
  const bench = await soundBench()
  const abort = new AbortController()
  await wrap(bench, 'timeout', (_call, run, next) => {
    run.deadline(60_000)
    return next()
  })
  const probe = probeTool({
    body: (_args, run) =>
      new Promise((_resolve, reject) => {
        run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))
        abort.abort(new Error('the user pressed stop'))
      }),
  })
  await bench.register(probe.definition)
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(result.outcome).toEqual({ tag: 'aborted', executed: 'yes', reason: 'the user pressed stop' })
})

// 7.1
it('a deadline is a positive number of milliseconds', async () => {
  const bench = await soundBench()
  const probe = probeTool()
  await bench.register(probe.definition)
  let ms = 0
  await wrap(bench, 'timeout', (_call, run, next) => {
    run.deadline(ms)
    return next()
  })
  for (ms of [0, -1, Number.NaN]) {
    const { result } = await bench.call('probe')
    expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'no', message: expect.stringContaining(`${ms}`) })
  }
  expect(probe.runs).toBe(0)
})

// 7.1
it('of several deadlines of one wrapper the shortest counts', async () => {
  const bench = await soundBench({ config: { graceMs: 10 } })
  await bench.register(probeTool({ body: () => new Promise(() => {}) }).definition)
  await wrap(bench, 'timeout', (_call, run, next) => {
    run.deadline(500)
    run.deadline(40)
    run.deadline(70)
    return next()
  })
  const { result } = await bench.call('probe')
  expect(result.outcome).toEqual({ tag: 'timed-out', executed: 'unknown', reason: 'no end within 40 ms' })
})

// 7.1
it('nobody can change an attempt that next() gave', async () => {
  const bench = await soundBench({ config: { graceMs: 10 } })
  const bodies: Record<string, () => unknown> = {
    good: () => 'fine',
    bad: () => Promise.reject(new Error('broken')),
    hung: () => new Promise(() => {}),
  }
  for (const [name, body] of Object.entries(bodies))
    await bench.register(probeTool({ name, overlap: 'parallel', body }).definition)
  const frozen: boolean[] = []
  const forge = async (_call: Call, run: ExecuteRun, next: () => Promise<Attempt>) => {
    run.deadline(100)
    const attempt = await next()
    frozen.push(Object.isFrozen(attempt))
    try {
      Object.assign(attempt, { status: 'succeeded', value: 1n })
    } catch {
      // Refused, as it should be.
    }
    return attempt
  }
  await wrap(bench, 'outer', forge, -1)
  await wrap(bench, 'inner', forge)
  const outcomes = []
  for (const name of Object.keys(bodies)) outcomes.push((await bench.call(name)).result.outcome.tag)
  expect(outcomes).toEqual(['succeeded', 'failed', 'timed-out'])
  expect(frozen).toEqual([true, true, true, true, true, true])
})

// 7.1
it('an attempt made by a wrapper in place of next() is frozen too before an outer wrapper sees it', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const made: unknown[] = [
    { status: 'succeeded', value: { a: [1] } },
    { status: 'failed', code: 'X', message: 'no' },
    { status: 'failed' },
    { status: 'aborted', reason: 'stop' },
    { status: 'timed-out' },
  ]
  let answer: unknown
  const seen: Attempt[] = []
  await wrap(
    bench,
    'outer',
    async (_call, _run, next) => {
      const attempt = await next()
      seen.push(attempt)
      return attempt
    },
    -1,
  )
  await wrap(bench, 'inner', () => answer)
  for (answer of made) await bench.call('probe')
  expect(seen.every((attempt) => Object.isFrozen(attempt))).toBe(true)
  expect(seen).toEqual([
    { status: 'succeeded', executed: 'no', value: { a: [1] } },
    { status: 'failed', executed: 'no', code: 'X', message: 'no' },
    { status: 'failed', executed: 'no', code: 'TOOLS_BODY_FAILED', message: 'it failed' },
    { status: 'aborted', executed: 'no', reason: 'stop' },
    { status: 'timed-out', executed: 'no', reason: 'no reason given' },
  ])
})

// 7.1, 4.5
it('a wrapper that answers with something that is no attempt has thrown', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  let answer: unknown
  await wrap(bench, 'odd', () => answer)
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error('do not look')
      },
    },
  )
  for (answer of [undefined, null, 5, 'succeeded', {}, [], { status: 'great' }, Promise.resolve(undefined), trap]) {
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'no' })
    expect(steps(settled)).toContain('execute:threw')
  }
  answer = undefined
  expect((await bench.call('probe')).result.outcome).toMatchObject({ code: 'TOOLS_BAD_ANSWER' })
})

// 7.3, 7.5
it('a wrapper that never calls next() answers in place of the body: the value is checked and the result says that nothing ran', async () => {
  const bench = await soundBench()
  const probe = probeTool({ output: { type: 'string' } })
  await bench.register(probe.definition)
  let value: unknown = 'cached'
  await wrap(bench, 'cache', () => ({ status: 'succeeded', executed: 'yes', value }))
  expect((await bench.call('probe')).result).toMatchObject({
    outcome: { tag: 'succeeded', executed: 'no' },
    value: 'cached',
  })
  value = 5
  expect((await bench.call('probe')).result.outcome).toMatchObject({ tag: 'failed', code: 'TOOLS_OUTPUT_INVALID' })
  value = { n: 1n }
  expect((await bench.call('probe')).result.outcome).toMatchObject({
    tag: 'failed',
    code: 'TOOLS_RESULT_NOT_JSON',
    message: expect.stringContaining('$.n'),
  })
  expect(probe.runs).toBe(0)
})

// 7.1
it('what a wrapper says about whether the body ran is replaced by what is known', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  await wrap(bench, 'liar', async (_call, _run, next) => {
    await next()
    return { status: 'failed', executed: 'no', code: 'X', message: 'half a surrogate: \ud800' }
  })
  expect((await bench.call('probe')).result.outcome).toEqual({
    tag: 'failed',
    executed: 'yes',
    code: 'X',
    message: 'half a surrogate: \ufffd',
  })
})

// 1.4
it('a wrapper that uses up its own time has thrown, and time inside next() is not its own', async () => {
  const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  await bench.register(probeTool({ body: () => wait(10_000) }).definition)
  let own = 99
  const wrapper = await wrap(bench, 'slow', async (_call, _run, next) => {
    await wait(own / 2)
    const attempt = await next()
    await wait(own / 2)
    return attempt
  })
  expect((await bench.call('probe')).result.outcome).toMatchObject({ tag: 'succeeded' })
  own = 202
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'no',
    code: 'LISTENER_EXPIRED',
    by: `slow#${wrapper.uid}`,
  })
  expect(steps(settled)).toContain('execute:expired')
})

// 1.4
it('after an abort the wrappers have the grace and are then abandoned; whether the body ran is kept', async () => {
  for (const [where, executed] of [
    ['before', 'no'],
    ['after', 'yes'],
  ] as const) {
    const bench = await soundBench({ config: { graceMs: 100 } })
    const abort = new AbortController()
    await bench.register(probeTool({ body: () => 'secret' }).definition)
    const hang = () => {
      abort.abort()
      return new Promise<Attempt>(() => {})
    }
    const wrapper = await wrap(bench, 'deaf', (_call, _run, next) => (where === 'before' ? hang() : next().then(hang)))
    await wrap(bench, 'fine', (_call, _run, next) => next(), 1)
    const settled = await bench.call('probe', {}, { signal: abort.signal })
    expect(settled.result.outcome).toMatchObject({
      tag: 'failed',
      executed,
      code: 'LISTENER_ABANDONED',
      by: `deaf#${wrapper.uid}`,
    })
    expect(JSON.stringify(settled.data)).not.toContain('secret')
    expect(bench.world.clock.monotonic()).toBeLessThanOrEqual(200)
  }
})
