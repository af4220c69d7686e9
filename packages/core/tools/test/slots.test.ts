/** Proves how bodies of one batch overlap: keys, places, queues, and what abandoned bodies keep. */
import type { CallRequest, Overlap, SettledBatch } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Bench, type BenchOptions, steps } from './kit.ts'
import { soundBench } from './sound.ts'

/** A bench with a tool `work` that notes when it starts and ends, takes `ms`, and overlaps as `overlap` says. */
async function workshop(overlap: Overlap | undefined, options: BenchOptions = {}) {
  const bench = await soundBench(options)
  const notes: string[] = []
  const work = probeTool({
    name: 'work',
    ...(overlap && { overlap: overlap as never }),
    body: async ({ name, ms }) => {
      notes.push(`${String(name)}+`)
      await new Promise<void>((resolve) => bench.world.clock.timer(Number(ms ?? 10), resolve))
      notes.push(`${String(name)}-`)
    },
  })
  await bench.register(work.definition)
  const run = (...calls: object[]) => batchOf(bench, 'work', calls)
  return { bench, notes, work, run }
}

function batchOf(bench: Bench, tool: string, calls: readonly object[], signal?: AbortSignal): Promise<SettledBatch> {
  const requests = calls.map((args, i): CallRequest => ({ id: `b${i}`, tool, arguments: args as never }))
  return bench.ctx.tools.batch({ session: bench.session, calls: requests, ...(signal && { signal }) })
}

const keys: Overlap = ({ reads, writes }) => ({
  ...(reads !== undefined && { reads: reads as string[] }),
  ...(writes !== undefined && { writes: writes as string[] }),
})

// 10.2
it('bodies do not overlap unless their definition says so, and run in request order', async () => {
  const { run, notes, work } = await workshop(undefined)
  await run({ name: 'a' }, { name: 'b' }, { name: 'c' })
  expect(notes).toEqual(['a+', 'a-', 'b+', 'b-', 'c+', 'c-'])
  expect(work.activeMax).toBe(1)
})

// 10.2
it('parallel bodies overlap, up to the bound, and the others follow in request order', async () => {
  const { run, notes, work } = await workshop('parallel', { config: { parallelMax: 2 } })
  await run({ name: 'a', ms: 30 }, { name: 'b', ms: 10 }, { name: 'c', ms: 10 }, { name: 'd', ms: 5 })
  expect(notes).toEqual(['a+', 'b+', 'b-', 'c+', 'c-', 'd+', 'd-', 'a-'])
  expect(work.activeMax).toBe(2)
})

// 10.2
it('a key has many readers or one writer, and different keys do not wait for each other', async () => {
  const { run, notes } = await workshop(keys)
  await run(
    { name: 'r1', reads: ['x'], ms: 30 },
    { name: 'r2', reads: ['x'], ms: 20 },
    { name: 'w', writes: ['x'], ms: 10 },
    { name: 'y', writes: ['y'], ms: 5 },
    { name: 'rw', reads: ['y'], writes: ['x'] },
  )
  expect(notes).toEqual(['r1+', 'r2+', 'y+', 'y-', 'r2-', 'r1-', 'w+', 'w-', 'rw+', 'rw-'])
})

// 10.2
it('a reader does not overtake a writer that waits for the same key, a call for another key does', async () => {
  const { run, notes } = await workshop(keys)
  await run(
    { name: 'r1', reads: ['x'], ms: 10 },
    { name: 'w', writes: ['x'], ms: 10 },
    { name: 'r2', reads: ['x'], ms: 10 },
    { name: 'free', reads: ['y'], ms: 1 },
  )
  expect(notes).toEqual(['r1+', 'free+', 'free-', 'r1-', 'w+', 'w-', 'r2+', 'r2-'])
})

// 10.2
it('an exclusive body overlaps with nothing, whatever keys others have', async () => {
  const { bench, notes } = await workshop(keys)
  await bench.register(probeTool({ name: 'alone', body: () => void notes.push('alone') }).definition)
  await bench.ctx.tools.batch({
    session: bench.session,
    calls: [
      { id: '1', tool: 'work', arguments: { name: 'none' } },
      { id: '2', tool: 'alone', arguments: {} },
      { id: '3', tool: 'work', arguments: { name: 'x', writes: ['x'] } },
    ],
  })
  expect(notes).toEqual(['none+', 'none-', 'alone', 'x+', 'x-'])
})

// 10.2, 3.3
it('keys are computed once, from the final arguments and the session', async () => {
  const bench = await soundBench()
  const asked: unknown[] = []
  await bench.register(
    probeTool({
      overlap: ((args: unknown, session: unknown) => {
        asked.push(args, session === bench.session)
        return {}
      }) as never,
    }).definition,
  )
  await bench.plugin('rewrite', (ctx) => void ctx.on('tools/prepare', () => ({ path: 'real' })))
  await bench.call('probe', { path: 'given' })
  expect(asked).toEqual([{ path: 'real' }, true])
})

// 10.2, 4.5
it('a definition that cannot say what its body needs is not run', async () => {
  const odd: (() => unknown)[] = [
    () => {
      throw new Error('no idea')
    },
    () => undefined,
    () => null,
    () => 'x',
    () => Promise.resolve({ writes: ['x'] }),
    () => ({ writes: 'x' }),
    () => ({ reads: [1] }),
  ]
  for (const [index, overlap] of odd.entries()) {
    const bench = await soundBench()
    const probe = probeTool({ overlap: overlap as never })
    const tool = await bench.register(probe.definition)
    const { result } = await bench.call('probe')
    expect(result.outcome, `${index}`).toMatchObject({ tag: 'denied', stage: 'guards', by: `tool-probe#${tool.uid}` })
    expect(probe.runs).toBe(0)
    await bench.register(probeTool({ name: 'next' }).definition)
    expect((await bench.call('next')).result.outcome.tag).toBe('succeeded')
  }
})

// 10.2, 5.3
it('a call waits for its slot before its guards are asked, and holds it until it leaves execute', async () => {
  const { bench, run, notes } = await workshop(undefined)
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('note', (call) => void notes.push(`${String(call.args['name'])} guarded`))
    ctx.on('tools/post-execute', async (call, _result, next) => {
      await new Promise<void>((resolve) => bench.world.clock.timer(50, resolve))
      notes.push(`${String(call.args['name'])} reviewed`)
      return next()
    })
  })
  await run({ name: 'a' }, { name: 'b' })
  expect(notes).toEqual(['a guarded', 'a+', 'a-', 'b guarded', 'b+', 'b-', 'a reviewed', 'b reviewed'])
})

// 10.2
it('a call that is denied, or whose guard throws, lets the next one in at once', async () => {
  const { bench, run, notes } = await workshop(undefined)
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('pick', ({ args }) => {
      if (args['name'] === 'thrown') throw new Error('tripped')
      return args['name'] === 'denied' ? 'no' : undefined
    })
    ctx.on(
      'tools/post-execute',
      () => new Promise((resolve) => bench.world.clock.timer(1000, () => resolve({ kind: 'accept' }))),
    )
  })
  await run({ name: 'denied' }, { name: 'thrown' }, { name: 'c', ms: 1 }, { name: 'd', ms: 1 })
  expect(notes).toEqual(['c+', 'c-', 'd+', 'd-'])
  expect(bench.world.clock.monotonic()).toBe(1002)
})

// 10.2
it('queue time counts in no deadline and is recorded', async () => {
  const { bench, run } = await workshop(undefined)
  await bench.plugin('timeout', (ctx) => {
    ctx.on('tools/execute', (_call, runOf, next) => {
      runOf.deadline(150)
      return next()
    })
  })
  const { calls } = await run({ name: 'a', ms: 100 }, { name: 'b', ms: 100 }, { name: 'c', ms: 100 })
  expect(calls.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'succeeded', 'succeeded'])
  expect(calls.map(({ data }) => data.queuedMs)).toEqual([undefined, 100, 200])
  const trace = JSON.parse(calls[2]?.data.trace ?? '[]') as { stage: string; queuedMs?: number }[]
  expect(trace.find(({ stage }) => stage === 'guards')?.queuedMs).toBe(200)
})

// 10.2
it('calls of one session share its slots across batches, other sessions have their own', async () => {
  const { bench, notes } = await workshop(undefined)
  const other = await bench.ctx.sessions.create({ cwd: '/proj' })
  const call = (name: string, session = bench.session) =>
    bench.ctx.tools.execute({ session, call: { id: name, tool: 'work', arguments: { name, ms: 10 } } })
  await Promise.all([call('a'), call('b'), call('x', other)])
  expect(notes.slice(0, 2)).toEqual(['a+', 'x+'])
  expect(notes.filter((note) => !note.startsWith('x'))).toEqual(['a+', 'a-', 'b+', 'b-'])
})

// 10.2, 10.5
it('a call that is aborted while it queues gives way and never starts', async () => {
  const { bench, work } = await workshop(undefined)
  const abort = new AbortController()
  const first = batchOf(bench, 'work', [{ name: 'a', ms: 100 }])
  const second = bench.ctx.tools.execute({
    session: bench.session,
    call: { id: 'second', tool: 'work', arguments: { name: 'b' } },
    signal: abort.signal,
  })
  const third = bench.ctx.tools.execute({
    session: bench.session,
    call: { id: 'third', tool: 'work', arguments: { name: 'c', ms: 10 } },
  })
  await flushMicrotasks(1)
  abort.abort(new Error('enough'))
  const settled = await second
  expect(settled.result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: 'enough' })
  expect(steps(settled)).toContain('guards:aborted')
  expect((await third).result.outcome.tag).toBe('succeeded')
  await first
  expect(work.args.map(({ name }) => name)).toEqual(['a', 'c'])
})

/** Leaves a body of `stuck` hanging with the given keys. */
async function abandoned(bench: Bench, overlap: Overlap) {
  const late = deferred()
  const abort = new AbortController()
  await bench.register(probeTool({ name: 'stuck', overlap: overlap as never, body: () => late.promise }).definition)
  const settling = bench.call('stuck', {}, { id: 'stuck', signal: abort.signal })
  await flushMicrotasks()
  return { late, abort, settling }
}

// 10.2
it('an abandoned body keeps its keys: calls that need them fail, others run, until it has ended', async () => {
  const { bench, run, work } = await workshop(keys, { config: { graceMs: 50 } })
  const { late, abort, settling } = await abandoned(bench, () => ({ writes: ['x'] }))
  const waiting = bench.call('work', { name: 'waits', reads: ['x'] })
  await flushMicrotasks(1)
  abort.abort()
  expect((await settling).result.outcome).toMatchObject({ tag: 'aborted', executed: 'unknown' })
  const held = { tag: 'denied', executed: 'no', stage: 'guards', code: 'TOOLS_KEY_HELD', by: 'stuck stuck' }
  const refused = await waiting
  expect(refused.result.outcome).toMatchObject({ ...held, reason: expect.stringContaining('x is still held by stuck') })
  const { calls } = await run({ name: 'x', writes: ['x'] }, { name: 'y', writes: ['y'], ms: 1 })
  expect(calls.map(({ result }) => result.outcome.tag)).toEqual(['denied', 'succeeded'])
  late.resolve()
  await flushMicrotasks()
  expect((await bench.call('work', { name: 'again', writes: ['x'] })).result.outcome.tag).toBe('succeeded')
  expect(work.args.map(({ name }) => name)).toEqual(['y', 'again'])
})

// 10.2
it('an abandoned exclusive body keeps the whole session', async () => {
  const { bench, run } = await workshop(keys, { config: { graceMs: 50 } })
  const { late, abort, settling } = await abandoned(bench, () => ({ writes: ['*'] }))
  abort.abort()
  await settling
  const { calls } = await run({ name: 'x', writes: ['x'] })
  expect(calls[0]?.result.outcome).toMatchObject({ reason: expect.stringContaining('the session is still held') })
  late.resolve()
})

// 10.2
it('an abandoned body gives up its place among those that run at once', async () => {
  const { bench, run } = await workshop('parallel', { config: { graceMs: 50, parallelMax: 1 } })
  const { late, abort, settling } = await abandoned(bench, () => ({}))
  abort.abort()
  await settling
  const { calls } = await run({ name: 'a' })
  expect(calls[0]?.result.outcome.tag).toBe('succeeded')
  late.resolve()
})

// 10.2
it('a writer waits behind an earlier reader that waits, and goes on at once when that reader gives up', async () => {
  const { bench, notes } = await workshop(keys)
  const abort = new AbortController()
  const first = batchOf(bench, 'work', [{ name: 'y', writes: ['y'], ms: 100 }])
  const reader = batchOf(bench, 'work', [{ name: 'xy', reads: ['x', 'y'] }], abort.signal)
  const writer = batchOf(bench, 'work', [{ name: 'x', writes: ['x'], ms: 10 }])
  await flushMicrotasks(1)
  expect(notes).toEqual(['y+'])
  abort.abort()
  await Promise.all([first, reader, writer])
  expect(notes).toEqual(['y+', 'x+', 'x-', 'y-'])
})
