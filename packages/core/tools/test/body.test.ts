/** Proves how a body starts, what it is given, and what becomes of what it says. */
import type { Json } from '@sluice/base'
import type { Run } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Faults, faultyStore } from './faulty-store.ts'
import { soundBench } from './sound.ts'

// 7.4
it('a body that changes something starts only when tool/started is durable', async () => {
  const faults: Faults = {}
  const bench = await soundBench({ store: faultyStore(faults) })
  const disk = deferred()
  const waitedFor: number[] = []
  faults.durable = (seq) => {
    waitedFor.push(seq)
    return disk.promise
  }
  const probe = probeTool()
  await bench.register(probe.definition)
  const settling = bench.call('probe')
  await flushMicrotasks()
  const started = bench.session.events.find((event) => event.type === 'tool/started')
  expect(waitedFor).toEqual([started?.seq])
  expect(probe.runs).toBe(0)
  disk.resolve()
  await settling
  expect(probe.runs).toBe(1)
})

// 7.4
it('a read-only body waits for no log and leaves no tool/started', async () => {
  const bench = await soundBench({ store: faultyStore({ durable: () => Promise.reject(new Error('disk full')) }) })
  await bench.register(probeTool({ annotations: { readOnly: true } }).definition)
  const { result } = await bench.call('probe')
  expect(result.outcome).toMatchObject({ tag: 'succeeded' })
  expect(bench.session.events.some((event) => event.type === 'tool/started')).toBe(false)
})

// 7.4
it('a body does not run when the log cannot be written or made durable', async () => {
  const refuse = (): never => {
    throw new Error('disk full')
  }
  const broken: Faults[] = [
    { durable: () => Promise.reject(new Error('disk full')) },
    { write: (event) => event.type === 'tool/started' && refuse() },
  ]
  for (const faults of broken) {
    const bench = await soundBench({ store: faultyStore(faults) })
    const probe = probeTool()
    await bench.register(probe.definition)
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({
      tag: 'failed',
      executed: 'no',
      code: 'TOOLS_NOT_DURABLE',
      message: expect.stringContaining('disk full'),
    })
    expect(probe.runs).toBe(0)
  }
})

// 7.4, 7.6
it('an abort or an unloaded tool while the log is made durable keeps the body from starting', async () => {
  for (const how of ['abort', 'unload'] as const) {
    const disk = deferred()
    const bench = await soundBench({ store: faultyStore({ durable: () => disk.promise }) })
    const abort = new AbortController()
    const probe = probeTool()
    const tool = await bench.register(probe.definition)
    const settling = bench.call('probe', {}, { signal: abort.signal })
    await flushMicrotasks()
    if (how === 'abort') abort.abort(new Error('enough'))
    else {
      await tool.dispose()
      disk.resolve()
    }
    const { result } = await settling
    expect(probe.runs).toBe(0)
    expect(result.outcome).toMatchObject(
      how === 'abort'
        ? { tag: 'aborted', executed: 'no', reason: 'enough' }
        : { tag: 'failed', executed: 'no', code: 'TOOLS_DEFINITION_GONE' },
    )
  }
})

// 7.4, 10.5
it('an abort at any moment around the start of a body leaves it unstarted or gives it the grace', async () => {
  for (let moment = 0; moment < 24; moment++) {
    const disk = deferred()
    const bench = await soundBench({ store: faultyStore({ durable: () => disk.promise }), config: { graceMs: 50 } })
    const abort = new AbortController()
    let startedAfterAbort = false
    const probe = probeTool({
      body: () => {
        startedAfterAbort = abort.signal.aborted
        return new Promise(() => {})
      },
    })
    await bench.register(probe.definition)
    const settling = bench.call('probe', {}, { signal: abort.signal })
    await flushMicrotasks()
    disk.resolve()
    for (let i = 0; i < moment; i++) await Promise.resolve()
    abort.abort()
    const { result } = await settling
    expect(startedAfterAbort, `moment ${moment}`).toBe(false)
    expect(result.outcome, `moment ${moment}`).toMatchObject({
      tag: 'aborted',
      executed: probe.runs === 0 ? 'no' : 'unknown',
    })
  }
})

// 7.5
it('a body reports progress while it runs; what is not JSON is dropped, and a throwing watcher changes nothing', async () => {
  const bench = await soundBench()
  let kept: Run | undefined
  await bench.register(
    probeTool({
      body: (_args, run) => {
        kept = run
        const update = { done: [1] }
        run.progress(update)
        update.done.push(2)
        run.progress({ bad: 1n } as never)
        run.progress('throw')
      },
    }).definition,
  )
  const seen: [string, Json][] = []
  const { calls } = await bench.ctx.tools.batch({
    session: bench.session,
    calls: [{ id: 'c', tool: 'probe', arguments: '' }],
    onProgress(id, update) {
      seen.push([id, update])
      if (update === 'throw') throw new Error('watcher broke')
    },
  })
  kept?.progress('too late')
  expect(seen).toEqual([
    ['c', { done: [1] }],
    ['c', 'throw'],
  ])
  expect(calls[0]?.result.outcome.tag).toBe('succeeded')
  expect(bench.reports).toEqual([expect.stringContaining('$.bad'), expect.stringContaining('watcher broke')])
})

// 7.5
it('a body says something to a person through the log', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: (_args, run) => run.log('half way') }).definition)
  await bench.call('probe')
  expect(bench.reports).toEqual([expect.stringContaining('half way')])
})

// 7.5
it('a body adds contexts and ends the turn, but not after it has settled', async () => {
  const bench = await soundBench()
  let kept: Run | undefined
  await bench.register(
    probeTool({
      body: (_args, run) => {
        kept = run
        run.context('one')
        run.context('two \ud800')
        run.endTurn()
      },
    }).definition,
  )
  await bench.register(probeTool({ name: 'plain', body: (_args, run) => (kept = run) && 'plain' }).definition)
  const { result } = await bench.call('probe')
  kept?.context('three')
  expect(result).toMatchObject({ contexts: ['one', 'two \ufffd'], endTurn: true })
  await bench.plugin('late', (ctx) => {
    ctx.on('tools/post-execute', (_call, _result, next) => {
      kept?.context('after the body')
      kept?.endTurn()
      return next()
    })
  })
  expect((await bench.call('plain')).result).toMatchObject({ contexts: [], endTurn: false })
})
