/** Proves that each call has exactly one result in the log, whatever the log or the machinery does. */
import type { KnownEvent, SessionEvent } from '@sluice/session'
import { explain, traceOf } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Faults, faultyStore } from './faulty-store.ts'
import { badStep, makeBench, steps } from './kit.ts'
import { soundBench, unsound } from './sound.ts'

function refuse(): never {
  throw new Error('disk full')
}

// 9.4
it('a logged result carries outcome, card, contexts, trace and timings', async () => {
  const bench = await soundBench()
  const card = { v: 1, kind: 'read', title: 'Read a', path: 'a' } as const
  await bench.register(
    probeTool({
      presentResult: () => card,
      body: (_args, run) => {
        run.context('look')
        return new Promise<void>((resolve) => bench.world.clock.timer(250, resolve))
      },
    }).definition,
  )
  const { data } = await bench.call('probe')
  expect(data).toMatchObject({
    outcome: { tag: 'succeeded', executed: 'yes' },
    card,
    contexts: ['look'],
    durationMs: 250,
  })
  expect(traceOf(data)?.find(({ stage }) => stage === 'execute')).toMatchObject({ outcome: 'done', ms: 250 })
})

// 9.4
it('a presenter that throws or returns no card, with a surplus or wrong field too, gives the generic card', async () => {
  const card = { v: 1, kind: 'terminal', title: 'x', command: 'ls' } as const
  const presenters: (() => unknown)[] = [
    refuse,
    () => undefined,
    () => ({}),
    () => ({ ...card, v: 2 }),
    () => ({ ...card, colour: 'red' }),
    () => ({ ...card, output: 5 }),
    () => ({ ...card, kind: 'constructor' }),
    () => Promise.resolve(card),
  ]
  for (const present of presenters) {
    const bench = await soundBench()
    await bench.register(
      probeTool({ presentCall: present as never, presentResult: present as never, body: () => 'shown' }).definition,
    )
    const { data } = await bench.call('probe', { a: 1 })
    expect(data.outcome.tag).toBe('succeeded')
    expect(data.card).toEqual({ v: 1, kind: 'generic', title: 'probe: succeeded', text: 'shown' })
    expect(explain(bench.session.events, 'c1')?.call.card).toEqual({
      v: 1,
      kind: 'generic',
      title: 'probe',
      text: '{"a":1}',
    })
  }
})

// 9.5, BUG-004
it('the first settlement of a body wins, later ones are reported and leave no second result', async () => {
  const bench = await soundBench({ config: { graceMs: 50 } })
  const late = deferred<string>()
  const abort = new AbortController()
  await bench.register(
    probeTool({
      name: 'complains',
      body: (_args, run) => {
        run.log('the index is stale')
        run.context('the index is stale')
        return 'ok'
      },
    }).definition,
  )
  await bench.register(
    probeTool({
      name: 'late',
      body: () => {
        abort.abort()
        return late.promise
      },
    }).definition,
  )
  expect((await bench.call('complains')).result.outcome.tag).toBe('succeeded')
  expect((await bench.call('late', {}, { signal: abort.signal })).result.outcome.tag).toBe('aborted')
  late.resolve('ok after all')
  await flushMicrotasks()
  expect(bench.results().map(({ callId }) => callId)).toEqual(['c1', 'c2'])
  expect(bench.reports).toEqual([
    expect.stringContaining('the index is stale'),
    expect.stringContaining('settled as succeeded after it was abandoned'),
  ])
})

// 9.5
it('when the log cannot append, the call resolves as failed, and opening the log again adds the result', async () => {
  let broken = false
  const faults: Faults = { write: (event) => broken && event.type === 'tool/result' && refuse() }
  const store = faultyStore(faults)
  const bench = await makeBench({ store })
  await bench.register(
    probeTool({
      body: () => {
        broken = true
        return 'secret'
      },
    }).definition,
  )
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', code: 'TOOLS_RESULT_NOT_RECORDED' })
  expect(settled.data.outcome).toEqual(settled.result.outcome)
  expect(settled.result.value).toBeUndefined()
  expect(JSON.stringify(settled)).not.toContain('secret')
  expect(bench.reports).toEqual([expect.stringContaining('disk full')])
  expect(settled.data).not.toHaveProperty('contexts')
  expect(unsound(bench.session)).toEqual(['c1 has no result'])
  expect(Object.isFrozen(settled)).toBe(true)
  await bench.plugin('no', (ctx) => void ctx.tools.guard('no', () => 'not today'))
  const denied = await bench.call('probe')
  expect(denied.result.outcome).toMatchObject({ tag: 'failed', executed: 'no', code: 'TOOLS_RESULT_NOT_RECORDED' })
  broken = false
  await bench.session.close()
  const again = await bench.ctx.sessions.open(bench.session.id)
  const results = (again.events as readonly KnownEvent[]).flatMap(({ type, data }) =>
    type === 'tool/result' ? [data] : [],
  )
  expect(results).toMatchObject([
    { callId: 'c1', outcome: { tag: 'interrupted', executed: 'unknown' } },
    { callId: 'c2', outcome: { tag: 'interrupted' } },
  ])
  expect(results.map(traceOf)).toEqual([undefined, undefined])
})

// 9.5
it('a result that the log refuses once is recorded as a failure, which is what the caller gets', async () => {
  let refusals = 1
  const faults: Faults = { write: (event) => event.type === 'tool/result' && refusals-- > 0 && refuse() }
  const bench = await soundBench({ store: faultyStore(faults) })
  await bench.register(probeTool({ body: () => 'secret' }).definition)
  const settled = await bench.call('probe')
  expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', code: 'TOOLS_RESULT_NOT_RECORDED' })
  expect(bench.results()).toEqual([settled.data])
  expect(JSON.stringify(bench.session.events)).not.toContain('secret')
})

// 9.5
it('a call that the log refuses is not run, and has call and result as soon as the log takes them', async () => {
  const nothing = (): never => {
    throw undefined
  }
  for (const [refusals, how] of [
    [1, refuse],
    [100, refuse],
    [1, nothing],
  ] as const) {
    let left: number = refusals
    const types = ['tool/call', 'tool/result']
    const faults: Faults = { write: ({ type }: SessionEvent) => types.includes(type) && left-- > 0 && how() }
    const bench = await soundBench({ store: faultyStore(faults) })
    const probe = probeTool()
    await bench.register(probe.definition)
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'no' })
    expect(probe.runs).toBe(0)
    expect(bench.results()).toEqual(refusals === 1 ? [settled.data] : [])
    expect(badStep(settled)).toBeUndefined()
    expect(steps(settled)).toEqual(['admit:threw', 'normalize:normalized', 'finalize:finalized', 'result:recorded'])
  }
})

// 9.5
it('a failure of the machinery itself, whenever it comes, ends in one result, and the next call runs', async () => {
  const told: string[] = []
  for (let at = 2; at <= 11; at++) {
    const bench = await makeBench()
    await bench.register(probeTool().definition)
    const { clock } = bench.world
    let readings = 0
    const read = clock.monotonic.bind(clock)
    Object.assign(clock, {
      monotonic: () => {
        if (++readings === at) throw new Error('the clock stopped')
        return read()
      },
    })
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ code: 'TOOLS_MACHINERY' })
    expect(JSON.stringify(settled.result.outcome)).toContain('the clock stopped')
    expect(bench.results()).toEqual([settled.data])
    expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
    told.push(...bench.reports)
  }
  // Where no stage is left that could say it, a person is told.
  expect(told).toContainEqual(expect.stringContaining('the clock stopped'))
})

// 12.1
it('each step has its own time, and says who was asked', async () => {
  const bench = await soundBench()
  const wait = (ms: number) => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve))
  await bench.register(probeTool({ body: () => wait(20) }).definition)
  await bench.plugin('slow', (ctx) => {
    ctx.on('tools/pre-execute', async (_call, next) => (await wait(10), next()))
    ctx.tools.guard('none', () => undefined)
  })
  const trace = traceOf((await bench.call('probe')).data) ?? []
  expect(trace.map(({ stage, ms, asked }) => [stage, ms, asked?.length])).toEqual([
    ['admit', 0, undefined],
    ['prepare', 0, undefined],
    ['pre-execute', 10, 1],
    ['guards', 0, 1],
    ['execute', 20, undefined],
    ['post-execute', 0, undefined],
    ['finalize', 0, undefined],
    ['result', 0, undefined],
  ])
  expect(trace.filter((step) => 'unasked' in step)).toEqual([])
})

// 1.3, 4.6
it('the steps of a call in which nobody takes part name nobody', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const fields = traceOf((await bench.call('probe')).data)?.map((step) => Object.keys(step).join(' '))
  const plain = 'stage outcome ms'
  expect(fields).toEqual([plain, plain, `${plain} by`, plain, `${plain} tries`, plain, plain, plain])
})
