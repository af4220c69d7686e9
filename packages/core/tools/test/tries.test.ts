/** Proves when a wrapper may try again, and what happens when it does not wait for what it started. */
import { isSluiceError } from '@sluice/base'
import type { Attempt, Run } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool, turn } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { faultyStore, type Faults } from './faulty-store.ts'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { wrap, cached } from './wrappers.ts'

// 7.2
it('a read-only or idempotent tool may be tried again, each try passes all inner wrappers and is recorded', async () => {
  for (const annotations of [{ readOnly: true }, { idempotent: true }]) {
    const bench = await soundBench()
    let runs = 0
    const probe = probeTool({
      annotations,
      body: (_args, run) => {
        runs++
        run.context(`try ${run.attempt}`)
        if (run.attempt < 3) throw new Error(`failure ${run.attempt}`)
        return run.attempt
      },
    })
    await bench.register(probe.definition)
    const inner: number[] = []
    await wrap(
      bench,
      'retry',
      async (_call, _run, next) => {
        await next()
        await next()
        return next()
      },
      -1,
    )
    await wrap(bench, 'inner', (_call, run, next) => {
      inner.push(run.attempt)
      return next()
    })
    const settled = await bench.call('probe')
    expect(settled.result).toMatchObject({ value: 3, contexts: ['try 3'] })
    // 7.4: before the first try only.
    const started = bench.session.events.filter((event) => event.type === 'tool/started')
    expect(started).toHaveLength('readOnly' in annotations ? 0 : 1)
    expect([runs, inner]).toEqual([3, [1, 2, 3]])
    const trace = JSON.parse(settled.data.trace ?? '[]') as { stage: string; tries?: unknown[] }[]
    expect(trace.find((step) => step.stage === 'execute')?.tries).toEqual([
      { try: 1, status: 'failed', executed: 'yes', ms: 0 },
      { try: 2, status: 'failed', executed: 'yes', ms: 0 },
      { try: 3, status: 'succeeded', executed: 'yes', ms: 0 },
    ])
  }
})

// 7.2
it('each try has a signal and a deadline of its own', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  const signals: AbortSignal[] = []
  const probe = probeTool({
    annotations: { readOnly: true },
    body: (_args, run) => {
      signals.push(run.signal)
      if (run.attempt === 2) return 'second'
      return new Promise((_resolve, reject) => {
        run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))
      })
    },
  })
  await bench.register(probe.definition)
  await wrap(bench, 'retry', async (_call, run, next) => {
    run.deadline(1000)
    const first = await next()
    return first.status === 'timed-out' ? next() : first
  })
  const { result } = await bench.call('probe')
  expect(result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes' }, value: 'second' })
  expect(signals.map((signal) => signal.aborted)).toEqual([true, false])
})

// 7.2
it('a tool that is neither read-only nor idempotent runs once, however often a wrapper calls next()', async () => {
  const bench = await soundBench()
  const probe = probeTool({ body: () => Promise.reject(new Error('half done')) })
  await bench.register(probe.definition)
  let refusal: unknown
  await wrap(bench, 'retry', async (_call, _run, next) => {
    const first = await next()
    await next().catch((error: unknown) => (refusal = error))
    return first
  })
  const { result } = await bench.call('probe')
  expect(isSluiceError(refusal, 'TOOLS_NOT_REPEATABLE')).toBe(true)
  expect(probe.runs).toBe(1)
  expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', message: 'half done' })
})

// 7.2
it('next() is refused while the previous try is under way, also when nobody waits for the answer', async () => {
  const bench = await soundBench()
  const gate = deferred<string>()
  const probe = probeTool({ annotations: { idempotent: true }, body: () => gate.promise })
  await bench.register(probe.definition)
  let refusal: unknown
  await wrap(bench, 'double', async (_call, _run, next) => {
    const first = next()
    void next()
    await next().catch((error: unknown) => (refusal = error))
    gate.resolve('once')
    return first
  })
  const { result } = await bench.call('probe')
  expect(result).toMatchObject({ outcome: { tag: 'succeeded' }, value: 'once' })
  expect(isSluiceError(refusal, 'TOOLS_NOT_REPEATABLE')).toBe(true)
  expect(probe.runs).toBe(1)
})

// 7.2
it('an abandoned try has not settled: even an idempotent tool is not tried again after it', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  const probe = probeTool({ annotations: { idempotent: true }, body: () => new Promise(() => {}) })
  await bench.register(probe.definition)
  let refusal: unknown
  await wrap(bench, 'retry', async (_call, run, next) => {
    run.deadline(1000)
    const first = await next()
    await next().catch((error: unknown) => (refusal = error))
    return first
  })
  const { result } = await bench.call('probe')
  expect(isSluiceError(refusal, 'TOOLS_NOT_REPEATABLE')).toBe(true)
  expect(probe.runs).toBe(1)
  expect(result.outcome).toMatchObject({ tag: 'timed-out', executed: 'unknown' })
})

// 7.2, 7.4
it('a try that did not start the body may be repeated, and waits for the log again', async () => {
  const faults: Faults = {}
  const bench = await soundBench({ store: faultyStore(faults) })
  let refusals = 2
  let durable = 0
  faults.durable = () => {
    if (refusals-- > 0) return Promise.reject(new Error('disk full'))
    durable++
    return Promise.resolve()
  }
  const probe = probeTool({ body: () => durable })
  await bench.register(probe.definition)
  const seen: string[] = []
  await wrap(bench, 'retry', async (_call, _run, next) => {
    let attempt = await next()
    while (attempt.status === 'failed') {
      seen.push(`${attempt.code} ${attempt.executed}`)
      attempt = await next()
    }
    return attempt
  })
  const { result } = await bench.call('probe')
  expect(seen).toEqual(['TOOLS_NOT_DURABLE no', 'TOOLS_NOT_DURABLE no'])
  expect(result).toMatchObject({ outcome: { tag: 'succeeded' }, value: 1 })
  expect(probe.runs).toBe(1)
})

// 7.2
it('next() of a wrapper that has already answered never starts the body', async () => {
  const late: Record<string, (later: () => void) => unknown> = {
    'returned an attempt': () => cached,
    'returned nonsense': () => 'nonsense',
    threw: () => {
      throw new Error('tripped')
    },
    'waits too long': () => new Promise(() => {}),
  }
  for (const [name, behave] of Object.entries(late)) {
    const bench = await soundBench({ config: { listenerTimeoutMs: 50 } })
    const probe = probeTool({ annotations: { readOnly: true } })
    await bench.register(probe.definition)
    let again: (() => Promise<Attempt>) | undefined
    await wrap(bench, 'late', (_call, _run, next) => {
      again = next
      return behave(() => {})
    })
    await bench.call('probe')
    const refusal: unknown = await again?.().catch((error: unknown) => error)
    expect(isSluiceError(refusal, 'TOOLS_RUN_OVER'), name).toBe(true)
    void again?.()
    await flushMicrotasks()
    expect(probe.runs, name).toBe(0)
  }
})

// 7.3
it('a wrapper that answers while the body runs stops the body and is blamed', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  const follow = (_args: unknown, run: Run) =>
    new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)))
  await bench.register(probeTool({ name: 'follows', body: follow }).definition)
  await bench.register(probeTool({ name: 'hangs', overlap: 'parallel', body: () => new Promise(() => {}) }).definition)
  const wrapper = await wrap(bench, 'race', (_call, _run, next) => Promise.race([next(), turn().then(() => cached)]))
  const blamed = { tag: 'failed', code: 'TOOLS_BODY_RUNNING', message: expect.stringContaining(`race#${wrapper.uid}`) }
  const followed = await bench.call('follows')
  expect(followed.result.outcome).toMatchObject({ ...blamed, executed: 'yes' })
  expect(followed.result.value).toBeUndefined()
  const before = bench.world.clock.monotonic()
  const hung = await bench.call('hangs')
  expect(hung.result.outcome).toMatchObject({ ...blamed, executed: 'unknown' })
  expect(bench.world.clock.monotonic() - before).toBe(100)
  expect(steps(hung)).toContain('execute:done')
})

// 7.3
it('a wrapper that throws while the body runs stops the body before the call goes on', async () => {
  const bench = await soundBench({ config: { graceMs: 100 } })
  let aborted = false
  const probe = probeTool({
    body: (_args, run) =>
      new Promise((resolve) =>
        run.signal.addEventListener('abort', () => {
          aborted = true
          resolve('late')
        }),
      ),
  })
  await bench.register(probe.definition)
  await wrap(bench, 'clumsy', async (_call, _run, next) => {
    void next()
    await turn()
    throw new Error('tripped')
  })
  const { result } = await bench.call('probe')
  expect([aborted, probe.active]).toEqual([true, 0])
  expect(result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', code: 'LISTENER_FAILED' })
})

// 7.3
it('a wrapper that answers while an inner wrapper still waits is blamed too, and the body never starts', async () => {
  const bench = await soundBench({ config: { graceMs: 100, listenerTimeoutMs: 1000 } })
  const probe = probeTool()
  await bench.register(probe.definition)
  const hold = deferred()
  const outer = await wrap(
    bench,
    'outer',
    (_call, _run, next) => {
      void next()
      return cached
    },
    -1,
  )
  await wrap(bench, 'inner', async (_call, _run, next) => {
    await hold.promise
    return next()
  })
  const { result } = await bench.call('probe')
  expect(result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'no',
    message: expect.stringContaining(`outer#${outer.uid}`),
  })
  hold.resolve()
  await flushMicrotasks()
  expect(probe.runs).toBe(0)
})
