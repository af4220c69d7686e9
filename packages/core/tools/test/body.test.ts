/** Proves one try of a body: what it is given, what it may return, and how it is stopped. */
/* oxlint-disable unicorn/no-thenable -- bodies return hostile thenables here */
import type { Json } from '@sluice/base'
import type { Call, ExecuteRun, Run, ToolDefinition } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Faults, faultyStore } from './faulty-store.ts'
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

// 7.5
it('the content is rendered from the value: by the definition, or as text, or as JSON', async () => {
  const bench = await soundBench()
  const rows: [Partial<ToolDefinition>, unknown, unknown][] = [
    [{}, 'plain text', [{ type: 'text', text: 'plain text' }]],
    [{}, { a: [1] }, [{ type: 'text', text: '{"a":[1]}' }]],
    [{}, undefined, [{ type: 'text', text: '(no output)' }]],
    [{}, '', [{ type: 'text', text: '(no output)' }]],
    [
      { render: (value, args) => `${JSON.stringify(value)} for ${JSON.stringify(args)}` },
      5,
      [{ type: 'text', text: '5 for {"x":1}' }],
    ],
    [
      {
        render: () => [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      5,
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    ],
    [{ render: () => [] }, 5, [{ type: 'text', text: '(no output)' }]],
  ]
  for (const [index, [definition, value, content]] of rows.entries()) {
    const name = `tool${index}`
    await bench.register(probeTool({ name, body: () => value, ...definition }).definition)
    expect((await bench.call(name, { x: 1 })).result.content).toEqual(content)
  }
})

// 7.5, 9.1
it('a value that cannot be rendered makes the call fail, and says that the tool ran', async () => {
  const bench = await soundBench()
  const renders: ToolDefinition['render'][] = [
    () => {
      throw new Error('no picture')
    },
    () => 5 as never,
    () => [{ type: 'text' }] as never,
    () => [{ type: 'text', text: 'x', colour: 'red' }] as never,
    () => [{ type: 'image', mediaType: 'image/png', blob: { digest: 'short', size: 1 } }],
    () => [null] as never,
    () => Promise.resolve('later') as never,
  ]
  for (const [index, render] of renders.entries()) {
    const name = `tool${index}`
    await bench.register(probeTool({ name, render: render as never }).definition)
    const { result, data } = await bench.call(name)
    expect(result.outcome, name).toMatchObject({ tag: 'failed', executed: 'yes', code: 'TOOLS_BODY_FAILED' })
    expect(bench.results()).toContainEqual(data)
  }
})

// 7.5
it('a value that does not fit the output schema, or an output schema that is broken, makes the call fail', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ name: 'wrong', output: { type: 'number' }, body: () => 'five' }).definition)
  await bench.register(probeTool({ name: 'right', output: { type: 'number' }, body: () => 5 }).definition)
  expect((await bench.call('wrong')).result.outcome).toMatchObject({
    tag: 'failed',
    executed: 'yes',
    code: 'TOOLS_OUTPUT_INVALID',
  })
  expect((await bench.call('right')).result).toMatchObject({ outcome: { tag: 'succeeded' }, value: 5 })
  await bench.register(
    probeTool({ name: 'broken', output: { type: 'string', pattern: '(' }, body: () => 'x' }).definition,
  )
  expect((await bench.call('broken')).result.outcome).toMatchObject({ tag: 'failed', executed: 'yes' })
})

// 7.5, BUG-079
it('whatever a body returns, the call has one result: lossless JSON, or an error that names the path', async () => {
  const bench = await soundBench()
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  let deep: unknown = 1
  for (let i = 0; i < 20_000; i++) deep = [deep]
  let nearlyDeep: unknown = 1
  for (let i = 0; i < 999; i++) nearlyDeep = [nearlyDeep]
  let reads = 0
  const twoFaced = {
    get n() {
      return ++reads
    },
  }
  const broken = Object.assign(new Error('cyclic'), { self: cycle })
  const reject = (reason: unknown) => () => Promise.reject(reason as Error)
  const raise = (reason: unknown) => () => {
    throw reason
  }
  const rows: Record<string, [() => unknown, string]> = {
    bigint: [() => 1n, '$: bigint'],
    'deep bigint': [() => ({ a: [1, 2, 3n] }), '$.a[2]: bigint'],
    function: [() => () => 1, '$: function'],
    symbol: [() => Symbol('s'), '$: symbol'],
    NaN: [() => Number.NaN, '$: NaN'],
    'negative zero': [() => -0, '$: negative zero'],
    date: [() => new Date(0), '$: an instance of Date'],
    map: [() => new Map([[1, 2]]), '$: an instance of Map'],
    cycle: [() => cycle, 'nested more than'],
    'throwing getter': [
      () => ({
        get n() {
          throw new Error('no entry')
        },
      }),
      '$.n: reading it threw: no entry',
    ],
    'too deep': [() => deep, 'nested more than'],
    'nearly too deep': [() => nearlyDeep, 'nested more than'],
    'promise inside': [() => ({ p: Promise.resolve(1) }), '$.p: an instance of Promise'],
    buffer: [() => Buffer.from('x'), '$: an instance of Buffer'],
    hole: [() => Object.assign([1], { 2: 3 }), '$[1]: a hole'],
    'throw undefined': [raise(undefined), 'undefined'],
    'throw text': [raise('str'), 'str'],
    'throw null': [raise(null), 'null'],
    'reject with a cycle': [reject(broken), 'cyclic'],
    'reject with nothing': [reject(undefined), 'undefined'],
    'message that is no text': [raise(Object.assign(new Error('x'), { message: { a: 1 } })), '[object Object]'],
    'code that is no text': [raise(Object.assign(new Error('odd code'), { name: 'SluiceError', code: 5 })), 'odd code'],
    'code that throws': [
      raise(
        Object.defineProperties(new Error('shy code'), {
          name: { value: 'SluiceError' },
          code: {
            get: () => {
              throw new Error('no entry')
            },
          },
        }),
      ),
      'shy code',
    ],
    'name that throws': [
      raise(
        Object.defineProperty(new Error('shy name'), 'name', {
          get: () => {
            throw new Error('no entry')
          },
        }),
      ),
      'shy name',
    ],
    'half a surrogate': [raise(new Error('\ud800')), '\ufffd'],
    'then that throws': [
      () => ({
        get then() {
          throw new Error('no entry')
        },
      }),
      '$.then',
    ],
    'thenable that throws': [
      () => ({
        then: () => {
          throw new Error('no promise')
        },
      }),
      'no promise',
    ],
  }
  for (const [name, [body, problem]] of Object.entries(rows)) {
    const tool = name.replaceAll(' ', '_')
    await bench.register({ ...probeTool({ name: tool }).definition, execute: body })
    const { result } = await bench.call(tool)
    expect(result.outcome, name).toMatchObject({ tag: 'failed', executed: 'yes' })
    expect(JSON.stringify(result.content), name).toContain(JSON.stringify(problem).slice(1, -1))
  }
  const fine: [() => unknown, Json][] = [
    [() => undefined, null],
    [() => twoFaced, { n: 1 }],
    [
      () => ({
        then: (resolve: (value: number) => void) => {
          resolve(1)
          resolve(2)
        },
      }),
      1,
    ],
    [() => ({ then: 5 }), { then: 5 }],
    [
      () => JSON.parse('{"__proto__":{"x":1},"constructor":2}') as unknown,
      JSON.parse('{"__proto__":{"x":1},"constructor":2}') as Json,
    ],
  ]
  for (const [index, [body, value]] of fine.entries()) {
    await bench.register({ ...probeTool({ name: `fine${index}` }).definition, execute: body })
    const { result } = await bench.call(`fine${index}`)
    expect(result.outcome.tag).toBe('succeeded')
    expect(result.value).toEqual(value)
  }
  expect(bench.results()).toHaveLength(Object.keys(rows).length + fine.length)
})

// 7.5, BUG-079
it('a value changed after it was returned changes nothing', async () => {
  const bench = await soundBench()
  const value = { list: [1] }
  await bench.register(probeTool({ body: () => value }).definition)
  await bench.plugin('later', (ctx) => {
    ctx.on('tools/post-execute', (_call, _result, next) => {
      value.list.push(2)
      return next()
    })
  })
  const { result } = await bench.call('probe')
  value.list.push(3)
  expect(result.value).toEqual({ list: [1] })
  expect(bench.results()[0]?.value).toEqual({ list: [1] })
})

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

// 7.7
it('an abort after the body has answered diverts nothing', async () => {
  const bench = await soundBench()
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
  expect(settled.result).toMatchObject({ outcome: { tag: 'succeeded', executed: 'yes' }, value: 'probed' })
  expect(steps(settled)).toContain('post-execute:accept')
})
