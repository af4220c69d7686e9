/** Proves batches: independent progress, results when they happen, contexts in request order, aborts and cut-offs. */
import type { KnownEvent } from '@sluice/session'
import type { CallRequest } from '@sluice/tools'
import { assertPaired, deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { type Faults, faultyStore } from './faulty-store.ts'
import type { Bench } from './kit.ts'
import { soundBench } from './sound.ts'

/** Appends the assistant message of `calls`, then runs them. */
function say(bench: Bench, calls: readonly CallRequest[], options: { signal?: AbortSignal; cutOff?: string } = {}) {
  bench.session.append('assistant/message', {
    content: calls.map(({ id, tool, arguments: given }) => ({
      type: 'tool-call',
      id,
      name: tool,
      argumentsText: typeof given === 'string' ? given : JSON.stringify(given),
    })),
    finish: 'tool-calls',
    model: 'test',
  })
  return bench.ctx.tools.batch({ session: bench.session, calls, ...options })
}

function settlements(bench: Bench): string[] {
  return bench.results().map(({ callId, outcome }) => `${callId} ${outcome.tag}`)
}

function toolMessages(bench: Bench): string[] {
  assertPaired(bench.session.messages())
  return bench.session.messages().flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
}

function waits(bench: Bench, name: string, ms: number) {
  return bench.register(
    probeTool({
      name,
      overlap: 'parallel',
      body: () => new Promise<void>((resolve) => bench.world.clock.timer(ms, resolve)),
    }).definition,
  )
}

// 10.1
it('the assistant message is durable before a body that changes something starts', async () => {
  const faults: Faults = {}
  const bench = await soundBench({ store: faultyStore(faults) })
  const disk = deferred()
  let upTo = -1
  faults.durable = (seq) => {
    upTo = seq
    return disk.promise
  }
  const probe = probeTool()
  await bench.register(probe.definition)
  const settling = say(bench, [{ id: 'a', tool: 'probe', arguments: '{}' }])
  await flushMicrotasks()
  const message = bench.session.events.find((event) => event.type === 'assistant/message')
  expect(upTo).toBeGreaterThan(message?.seq ?? Number.POSITIVE_INFINITY)
  expect(probe.runs).toBe(0)
  disk.resolve()
  await settling
  expect(probe.runs).toBe(1)
})

// 10.2, 10.3
it('calls progress independently, results are recorded when they happen and shown in request order', async () => {
  const bench = await soundBench()
  await waits(bench, 'slow', 300)
  await waits(bench, 'fast', 10)
  await bench.plugin('ask', (ctx) => {
    ctx.on('tools/pre-execute', (call, next) =>
      call.id === 'c'
        ? new Promise((resolve) => bench.world.clock.timer(100, () => resolve({ kind: 'deny', reason: 'no' })))
        : next(),
    )
  })
  const { calls } = await say(bench, [
    { id: 'a', tool: 'slow', arguments: '{}' },
    { id: 'b', tool: 'fast', arguments: '{}' },
    { id: 'c', tool: 'fast', arguments: '{}' },
    { id: 'd', tool: 'nowhere', arguments: '{}' },
  ])
  expect(settlements(bench)).toEqual(['d unknown-tool', 'b succeeded', 'c denied', 'a succeeded'])
  expect(toolMessages(bench)).toEqual(['a', 'b', 'c', 'd'])
  expect(calls.map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd'])
})

// 2.8
it('every call of a batch is logged in request order before any of them goes on, failed admissions too', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  let logged = 0
  await bench.plugin('watch', (ctx) => {
    ctx.on('tools/prepare', (_call, next) => {
      logged ||= bench.session.events.filter((event) => event.type === 'tool/call').length
      return next()
    })
  })
  await say(bench, [
    { id: 'a', tool: 'probe', arguments: '{}' },
    { id: 'b', tool: 'nowhere', arguments: '{}' },
    { id: 'c', tool: 'probe', arguments: '{broken' },
  ])
  const calls = (bench.session.events as readonly KnownEvent[]).flatMap((event) =>
    event.type === 'tool/call' ? [[event.data.callId, event.data.index]] : [],
  )
  expect(logged).toBe(3)
  expect(calls).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
  ])
})

// 10.4, BUG-009
it('contexts of all calls are collected in request order, whatever order the calls end in', async () => {
  const bench = await soundBench()
  await bench.register(
    probeTool({
      overlap: 'parallel',
      body: async ({ ms, says }, run) => {
        await new Promise<void>((resolve) => bench.world.clock.timer(Number(ms), resolve))
        for (const text of says as string[]) run.context(text)
      },
    }).definition,
  )
  const { contexts, endTurn } = await say(bench, [
    { id: 'a', tool: 'probe', arguments: { ms: 30, says: ['a1', 'a2'] } },
    { id: 'b', tool: 'probe', arguments: { ms: 10, says: ['same'] } },
    { id: 'c', tool: 'probe', arguments: { ms: 20, says: ['same'] } },
  ])
  expect(contexts).toEqual(['a1', 'a2', 'same', 'same'])
  expect(endTurn).toBe(false)
  for (const text of contexts)
    bench.session.append('user/message', { content: [{ type: 'text', text }], source: 'context' })
  assertPaired(bench.session.messages())
  expect(bench.session.messages().map(({ role }) => role)).toEqual([
    'assistant',
    ...Array(3).fill('tool'),
    ...Array(4).fill('user'),
  ])
})

// 10.4, BUG-009
it('a message that arrives while calls run stands after their results', async () => {
  const bench = await soundBench()
  await bench.register(
    probeTool({
      body: () =>
        void bench.session.append('user/message', { content: [{ type: 'text', text: 'wait' }], source: 'user' }),
    }).definition,
  )
  await say(bench, [
    { id: 'a', tool: 'probe', arguments: '{}' },
    { id: 'b', tool: 'probe', arguments: '{}' },
  ])
  assertPaired(bench.session.messages())
  expect(bench.session.messages().map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user', 'user'])
})

// 10.4
it('one call is enough to end the turn', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ name: 'ends', body: (_args, run) => run.endTurn() }).definition)
  await bench.register(probeTool({ name: 'plain' }).definition)
  const { endTurn } = await say(bench, [
    { id: 'a', tool: 'ends', arguments: '{}' },
    { id: 'b', tool: 'plain', arguments: '{}' },
  ])
  expect(endTurn).toBe(true)
})

// 10.5, BUG-001, BUG-006
it('an abort settles or abandons what runs, starts nothing new, and gives every other call a result', async () => {
  const bench = await soundBench({ config: { graceMs: 50, otherwise: 'allow' } })
  const abort = new AbortController()
  const settlesFast = new Promise<void>((resolve) => abort.signal.addEventListener('abort', () => resolve()))
  const started: string[] = []
  const tool = (name: string, body: () => unknown, overlap: 'parallel' | 'exclusive' = 'parallel') =>
    bench.register(probeTool({ name, overlap, body: () => (started.push(name), body()) }).definition)
  await tool('quick', () => 'done')
  await tool('settles', () => settlesFast)
  await tool('hangs', () => new Promise(() => {}))
  await tool('queues', () => 'never', 'exclusive')
  await bench.plugin('rules', (ctx) => {
    ctx.on('tools/pre-execute', (call, next) => (call.id === 'e' ? new Promise(() => {}) : next()))
  })
  const ids = ['quick', 'settles', 'hangs', 'queues', 'quick', 'nowhere']
  const settling = say(
    bench,
    ids.map((name, i) => ({ id: 'abcdef'[i] ?? '', tool: name, arguments: '{}' })),
    { signal: abort.signal },
  )
  await flushMicrotasks()
  abort.abort(new Error('the user pressed stop'))
  const { calls } = await settling
  expect(calls.map(({ callId, result: { outcome } }) => `${callId} ${outcome.tag} ${outcome.executed}`)).toEqual([
    'a succeeded yes',
    'b succeeded yes',
    'c aborted unknown',
    'd aborted no',
    'e aborted no',
    'f unknown-tool no',
  ])
  expect(started).toEqual(['quick', 'settles', 'hangs'])
  expect(toolMessages(bench)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
  expect(bench.results()).toHaveLength(6)
})

// 10.5
it('a batch whose signal has fired before starts nothing', async () => {
  const bench = await soundBench()
  const probe = probeTool()
  await bench.register(probe.definition)
  const reason = new Error('too late')
  const { calls } = await say(bench, [{ id: 'a', tool: 'probe', arguments: '{}' }], {
    signal: AbortSignal.abort(reason),
  })
  expect(calls[0]?.result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: 'too late' })
  expect(probe.runs).toBe(0)
  expect(toolMessages(bench)).toEqual(['a'])
})

// 10.5
it('an abort at any moment leaves one result for each call of a batch', async () => {
  for (let moment = 0; moment < 40; moment++) {
    const bench = await soundBench({ config: { graceMs: 20 }, approval: true })
    const abort = new AbortController()
    const slow = probeTool({
      body: (_args, run) =>
        new Promise((resolve, reject) => {
          const cancel = bench.world.clock.timer(10, () => resolve('done'))
          run.signal.addEventListener('abort', () => {
            cancel()
            reject(run.signal.reason as Error)
          })
        }),
    })
    await bench.register(slow.definition)
    await bench.plugin('asks', (ctx) => {
      ctx.on('tools/prepare', async (_call, next) => next())
      ctx.on('tools/pre-execute', async (call, next) => (call.id === 'b' ? { kind: 'ask', reason: 'sure?' } : next()))
      ctx.on('tools/execute', async (_call, _run, next) => next())
      ctx.on('tools/post-execute', async (_call, _result, next) => next())
    })
    await bench.ctx.plugin({
      name: 'person',
      inject: ['approval'],
      apply: (ctx) =>
        void ctx.approval.answerer('person', ({ callId }) => Promise.resolve({ callId, kind: 'allow-once' })),
    })
    const settling = say(
      bench,
      ['a', 'b', 'c'].map((id) => ({ id, tool: 'probe', arguments: '{}' })),
      { signal: abort.signal },
    )
    for (let i = 0; i < moment; i++) await Promise.resolve()
    abort.abort()
    const { calls } = await settling
    expect(calls.map(({ callId }) => callId)).toEqual(['a', 'b', 'c'])
    expect(bench.results()).toHaveLength(3)
    expect(calls.filter(({ result }) => result.outcome.executed === 'yes').length).toBeLessThanOrEqual(slow.runs)
  }
})

// 10.6, BUG-074
it('the calls of a message that ended early are not run, complete ones neither, and each is told why', async () => {
  const bench = await soundBench()
  const probe = probeTool()
  await bench.register(probe.definition)
  const { calls } = await say(
    bench,
    [
      { id: 'a', tool: 'probe', arguments: '{}' },
      { id: 'b', tool: 'probe', arguments: '{"path":"a","content":"xx' },
      { id: 'c', tool: 'nowhere', arguments: '' },
    ],
    { cutOff: 'length' },
  )
  expect(probe.runs).toBe(0)
  const reason = 'the message ended early (length), so none of its calls was run; send a smaller message'
  expect(calls.map(({ result }) => result.outcome)).toEqual([
    { tag: 'aborted', executed: 'no', reason },
    { tag: 'aborted', executed: 'no', reason },
    { tag: 'unknown-tool', executed: 'no', nearest: [] },
  ])
  expect(toolMessages(bench)).toEqual(['a', 'b', 'c'])
})

// 10.4
it('an empty batch settles at once', async () => {
  const bench = await soundBench()
  expect(await bench.ctx.tools.batch({ session: bench.session, calls: [] })).toEqual({
    calls: [],
    contexts: [],
    endTurn: false,
  })
})

// 10.5, 12.2
it('a batch leaves no listener on the signal of its caller', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ overlap: 'parallel' }).definition)
  const abort = new AbortController()
  let listening = 0
  const { signal } = abort
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  Object.assign(signal, {
    addEventListener: (...all: Parameters<typeof add>) => {
      listening++
      add(...all)
    },
    removeEventListener: (...all: Parameters<typeof remove>) => {
      listening--
      remove(...all)
    },
  })
  const settling = say(
    bench,
    Array.from({ length: 5 }, (_, i) => ({ id: `${i}`, tool: 'probe', arguments: '{}' })),
    { signal },
  )
  expect(listening).toBe(1)
  await settling
  expect(listening).toBe(0)
})
