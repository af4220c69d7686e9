/** Proves nested calls: a capability of one run, the whole pipeline for each, and one account in the log. */
import type { KnownEvent, SessionEvent } from '@sluice/session'
import type { Call, Run } from '@sluice/tools'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Faults, faultyStore } from './faulty-store.ts'
import { steps } from './kit.ts'
import { soundBench } from './sound.ts'
import { asking, dispatches, person, programs, refusalOf } from './programs.ts'

// 11.1
it('a run can make nested calls only while its body runs', async () => {
  let kept: Run | undefined
  const { bench, probe } = await programs((run) => {
    kept = run
    return run.call('probe', {})
  })
  await bench.call('program')
  expect(probe.runs).toBe(1)
  expect(await refusalOf((kept as Run).call('probe', {}))).toMatchObject({
    code: 'TOOLS_RUN_OVER',
    data: { tool: 'probe' },
  })
  void kept?.call('probe', {})
  await flushMicrotasks()
  expect(probe.runs).toBe(1)
})

// 11.1
it('the parent that listeners see is assigned by the executor, whatever a caller writes', async () => {
  const forged = { parent: 'c9', id: 'c9.1', call: { parent: 'c9' } }
  const { bench } = await programs((run) => run.call('probe', forged))
  const seen: (string | undefined)[][] = []
  await bench.plugin('watch', (ctx) => {
    ctx.on('tools/pre-execute', ({ tool, id, parent }, next) => {
      seen.push([tool, id, parent])
      return next()
    })
  })
  await bench.call('program')
  await bench.ctx.tools.execute({
    session: bench.session,
    call: { id: 'direct', tool: 'probe', arguments: forged, parent: 'c1' } as never,
    ...({ parent: 'c1' } as object),
  })
  expect(seen).toEqual([
    ['program', 'c1', undefined],
    ['probe', 'c1.1', 'c1'],
    ['probe', 'direct', undefined],
  ])
})

// 11.2
it('a nested call takes the same path, with the same data in the log, and is no message to the model', async () => {
  const { bench } = await programs((run) => run.call('probe', { n: '1' }))
  await bench.plugin('rewrite', (ctx) => {
    ctx.on('tools/prepare', (call, next) => (call.tool === 'probe' ? { n: 2 } : next()))
  })
  await bench.call('program')
  const inner = (bench.session.events as readonly KnownEvent[]).filter(
    ({ data }) => 'callId' in data && data.callId === 'c1.1',
  )
  expect(inner.map(({ type }) => type)).toEqual([
    'tool/code-dispatch',
    'tool/rewritten',
    'tool/started',
    'tool/code-dispatch',
  ])
  expect(inner[0]?.data).toMatchObject({
    phase: 'start',
    parent: 'c1',
    call: { argumentsText: '{"n":"1"}', tool: 'probe' },
  })
  expect(inner[3]?.data).toMatchObject({ phase: 'settle', parent: 'c1', result: { outcome: { tag: 'succeeded' } } })
  const trace = (inner[3] as SessionEvent<'tool/code-dispatch'>).data.result?.trace ?? '[]'
  const outer = bench.results()[0]
  expect((JSON.parse(trace) as { stage: string }[]).map(({ stage }) => stage)).toEqual(
    (JSON.parse(outer?.trace ?? '') as { stage: string }[]).map(({ stage }) => stage),
  )
  expect(bench.session.messages()).toEqual([])
})

// 11.2
it('starts are in submission order, settles are recorded when they happen', async () => {
  const { bench } = await programs(async (run) => {
    await Promise.all([30, 10, 20].map((ms) => run.call('wait', { ms })))
  })
  await bench.register(
    probeTool({
      name: 'wait',
      overlap: 'parallel',
      body: ({ ms }) => new Promise<void>((resolve) => bench.world.clock.timer(Number(ms), resolve)),
    }).definition,
  )
  await bench.call('program')
  expect(dispatches(bench)).toEqual([
    'c1.1 of c1 start',
    'c1.2 of c1 start',
    'c1.3 of c1 start',
    'c1.2 of c1 settle',
    'c1.3 of c1 settle',
    'c1.1 of c1 settle',
  ])
})

// 11.2
it('a nested call never waits for an ancestor: exclusive calls inside exclusive calls run, also with one place', async () => {
  const bench = await soundBench({ config: { parallelMax: 1 } })
  await bench.register(
    probeTool({
      name: 'deep',
      body: async ({ depth }, run) => (depth === 0 ? 'bottom' : run.call('deep', { depth: Number(depth) - 1 })),
    }).definition,
  )
  const { result } = await bench.call('deep', { depth: 10 })
  expect(result.value).toBe('bottom')
})

// 11.2
it('nested siblings wait for each other like the calls of a batch', async () => {
  const { bench } = await programs(async (run) => {
    await Promise.all(['a', 'b'].map((name) => run.call('work', { name })))
  })
  const notes: string[] = []
  await bench.register(
    probeTool({
      name: 'work',
      body: async ({ name }) => {
        notes.push(`${String(name)}+`)
        await new Promise<void>((resolve) => bench.world.clock.timer(10, resolve))
        notes.push(`${String(name)}-`)
      },
    }).definition,
  )
  await bench.call('program')
  expect(notes).toEqual(['a+', 'a-', 'b+', 'b-'])
})

// 11.2, 2.6
it('ids of nested calls are unique in the session, over tries and whatever ids the model gives', async () => {
  const { bench } = await programs(() => 1)
  await bench.register(
    probeTool({
      name: 'again',
      annotations: { idempotent: true },
      body: async (_args, run) => {
        await run.call('probe', {})
        if (run.attempt === 1) throw new Error('once more')
      },
    }).definition,
  )
  await bench.plugin('retry', (ctx) => {
    ctx.on('tools/execute', async (_call, _run, next) => {
      const first = await next()
      return first.status === 'failed' ? next() : first
    })
  })
  await bench.ctx.tools.batch({
    session: bench.session,
    calls: ['x', 'x.1', 'x.3'].map((id) => ({ id, tool: id === 'x' ? 'again' : 'probe', arguments: {} })),
  })
  const second = await bench.call('probe', {}, { id: 'x.2' })
  expect(dispatches(bench).filter((text) => text.endsWith('start'))).toEqual(['x.1. of x start', 'x.2 of x start'])
  expect(second.callId).not.toBe('x.2')
})

// 11.2, BUG-079
it('arguments of a nested call that are no JSON make it invalid, left out ones are empty', async () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const refusals: unknown[] = []
  const { bench, probe } = await programs(async (run) => {
    for (const args of [1n, cycle, () => 1, Symbol('s'), { a: undefined }, new Date(0), [1], 5])
      refusals.push((await refusalOf(run.call('probe', args))).data['code'])
    await run.call('probe', undefined)
  })
  await bench.call('program')
  expect(refusals).toEqual(Array(8).fill('invalid'))
  expect(probe.args).toEqual([{}])
})

// 11.3, BUG-083
it('a nested call that does not succeed rejects with code, tool, reason and executed', async () => {
  const refusals: unknown[] = []
  const { bench } = await programs(
    async (run) => {
      for (const tool of ['broken', 'offline', 'guarded', 'asked', 'nowhere \ud800', 'invalid'])
        refusals.push((await refusalOf(run.call(tool, {}))).data)
      return 'caught them all'
    },
    { approval: true },
  )
  const probes = ['offline', 'guarded', 'asked', 'invalid'].map((name) =>
    probeTool({ name, parameters: { type: 'object', ...(name === 'invalid' && { required: ['x'] }) } }),
  )
  for (const probe of probes) await bench.register(probe.definition)
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('no', (call) => (call.tool === 'guarded' ? 'not today' : undefined))
    ctx.on('tools/execute', (call, _run, next) =>
      call.tool === 'offline' ? { status: 'failed', executed: 'no', code: 'OFFLINE', message: 'no net' } : next(),
    )
  })
  await asking(bench, 'asked')
  await person(bench, (callId) => ({ callId, kind: 'reject', message: 'rather not' }))
  const { result } = await bench.call('program')
  expect(result.value).toBe('caught them all')
  expect(refusals).toEqual([
    { code: 'TOOLS_BODY_FAILED', tool: 'broken', reason: 'it broke', executed: 'yes' },
    { code: 'OFFLINE', tool: 'offline', reason: 'no net', executed: 'no' },
    { code: 'denied', tool: 'guarded', reason: 'not today', executed: 'no' },
    { code: 'denied', tool: 'asked', reason: 'rather not', executed: 'no' },
    {
      code: 'unknown-tool',
      tool: 'nowhere \ufffd',
      reason: expect.stringContaining('no tool named "nowhere \ufffd"'),
      executed: 'no',
    },
    { code: 'invalid', tool: 'invalid', reason: expect.stringContaining('x'), executed: 'no' },
  ])
  expect(probes.map(({ runs }) => runs)).toEqual([0, 0, 0, 0])
})

// 11.3
it('a failure of a nested call that nobody awaits is in the log and nowhere else', async () => {
  const { bench } = await programs((run) => {
    void run.call('broken', {})
    void run.call('nowhere', {})
    return new Promise<void>((resolve) => bench.world.clock.timer(5, resolve))
  })
  expect((await bench.call('program')).result.outcome.tag).toBe('succeeded')
  expect(dispatches(bench).filter((text) => text.endsWith('settle'))).toHaveLength(2)
})

// 11.3, 10.4
it('contexts and the end of the turn asked for by nested calls join those of the outer call', async () => {
  const { bench } = await programs(async (run) => {
    run.context('before')
    await run.call('says', {})
    run.context('after')
  })
  await bench.register(
    probeTool({
      name: 'says',
      body: (_args, run) => {
        run.context('inner')
        run.endTurn()
      },
    }).definition,
  )
  await bench.plugin('adds', (ctx) => {
    ctx.on('tools/post-execute', (call) => ({
      kind: 'accept',
      ...(call.tool === 'says' && { contexts: ['reviewed'] }),
    }))
  })
  const { result } = await bench.call('program')
  expect(result).toMatchObject({ contexts: ['before', 'inner', 'reviewed', 'after'], endTurn: true })
})

// 11.2
it('listeners of a nested call see the agent and the session of the outer call', async () => {
  const { bench } = await programs((run) => run.call('probe', {}))
  const seen: Pick<Call, 'agent' | 'session'>[] = []
  await bench.plugin('watch', (ctx) => {
    ctx.on('tools/pre-execute', ({ agent, session }, next) => {
      seen.push({ agent, session })
      return next()
    })
  })
  const settled = await bench.call('program', {}, { agent: 'main/reviewer' })
  expect(seen).toEqual(Array(2).fill({ agent: 'main/reviewer', session: bench.session }))
  expect(steps(settled)).toContain('execute:done')
})

// 11.2, 7.4
it('the body of a nested call that changes something does not start while the log cannot be made durable', async () => {
  const faults: Faults = {}
  const { bench, probe } = await programs(
    (run) => {
      faults.durable = () => Promise.reject(new Error('disk full'))
      return refusalOf(run.call('probe', {})).then(({ data }) => data)
    },
    { store: faultyStore(faults) },
  )
  expect((await bench.call('program')).result.value).toMatchObject({ code: 'TOOLS_NOT_DURABLE', executed: 'no' })
  expect(probe.runs).toBe(0)
})
