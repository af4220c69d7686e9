import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import type { Call, CallRequest, ToolResult } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import type { KnownEvent, SessionEventMap } from '@sluice/session'
import { type Bench, steps } from './kit.ts'
import { deny, judges } from './listeners.ts'
import { soundBench } from './sound.ts'

function eventsOf<T extends KnownEvent['type']>(bench: Bench, type: T): Readonly<SessionEventMap[T]>[] {
  return (bench.session.events as readonly KnownEvent[])
    .filter((event) => event.type === type)
    .map((event) => event.data as Readonly<SessionEventMap[T]>)
}

/** An object whose every field can be read once; the second read throws. */
function once<T extends object>(fields: T): T {
  const read = new Set<PropertyKey>()
  return new Proxy(fields, {
    get(target, key, receiver) {
      if (read.has(key)) throw new Error(`${String(key)} is read twice`)
      if (Object.hasOwn(target, key)) read.add(key)
      return Reflect.get(target, key, receiver) as unknown
    },
  })
}

describe('a request', () => {
  // 2.1
  test('each field of a batch and of its calls is read once', async () => {
    const bench = await soundBench()
    const probe = probeTool({ body: (_args, run) => (run.progress(1), run.progress(2)) })
    await bench.register(probe.definition)
    const updates: unknown[] = []
    const request = once({
      session: bench.session,
      calls: ['c1', 'c2'].map((id) => once<CallRequest>({ id, tool: 'probe', arguments: '{"a":1}' })),
      signal: new AbortController().signal,
      agent: 'main',
      onProgress: (_id: string, update: unknown) => void updates.push(update),
    })
    const { calls } = await bench.ctx.tools.batch(request)
    expect(calls.map(({ result }) => result.outcome.tag)).toEqual(['succeeded', 'succeeded'])
    expect(updates).toHaveLength(4)
  })

  // 2.1
  test('a list of calls that changes afterwards changes nothing', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const calls: CallRequest[] = [
      { id: 'a', tool: 'probe', arguments: {} },
      { id: 'b', tool: 'probe', arguments: {} },
    ]
    const settled = bench.ctx.tools.batch({ session: bench.session, calls })
    calls.length = 0
    expect((await settled).calls.map(({ callId }) => callId)).toEqual(['a', 'b'])
  })

  // 2.1, BUG-077
  test('names and ids that are no text are calls like others', async () => {
    const bench = await soundBench()
    const odd = [undefined, null, 7, {}, Object.create(null), Symbol('s')]
    const calls = odd.map((one) => ({ id: one, tool: one, arguments: '{}' }) as unknown as CallRequest)
    const settled = await bench.ctx.tools.batch({ session: bench.session, calls })
    expect(settled.calls.map(({ result }) => result.outcome.tag)).toEqual(odd.map(() => 'unknown-tool'))
    expect(new Set(settled.calls.map(({ callId }) => callId)).size).toBe(odd.length)
  })
})

// 2.6
describe('an unknown tool', () => {
  test('is answered at once, before any listener, with the nearest names', async () => {
    const bench = await soundBench()
    for (const name of ['read_file', 'write_file', 'bash'])
      await bench.register(probeTool({ name, ...(name === 'bash' && { aliases: ['Shell'] }) }).definition)
    let asked = 0
    for (const event of ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)
      await bench.plugin(`on-${event}`, (ctx) => void ctx.on(event, () => void asked++ as never))
    await bench.plugin('guard', (ctx) => void ctx.tools.guard('counts', () => (asked++, undefined)))
    const told: (readonly [Call, ToolResult])[] = []
    await bench.plugin('watch', (ctx) => void ctx.on('tools/result', (call, result) => void told.push([call, result])))
    const settled = await bench.call('readfile')
    // 9.4
    expect(told).toHaveLength(1)
    expect(told[0]?.[0]).toMatchObject({ id: settled.callId, tool: 'readfile', args: {}, card: { kind: 'generic' } })
    expect(told[0]?.[0]).toSatisfy(Object.isFrozen)
    expect(told[0]?.[1]).toBe(settled.result)
    expect(settled.result.outcome).toEqual({
      tag: 'unknown-tool',
      executed: 'no',
      nearest: ['read_file', 'write_file'],
    })
    expect(settled.result.content).toEqual([
      {
        type: 'text',
        text: 'There is no tool named "readfile". Did you mean read_file or write_file? Nothing was run.',
      },
    ])
    expect(steps(settled)).toEqual(['admit:unknown-tool', 'result:recorded'])
    expect((await bench.call('shell')).result.outcome).toMatchObject({ nearest: ['bash'] })
    expect((await bench.call('something else entirely')).result.outcome).toMatchObject({ nearest: [] })
    expect(asked).toBe(0)
  })

  // BUG-077
  test('members of every object are no tools', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', '']) {
      const { result } = await bench.call(name)
      expect(result.outcome).toEqual({ tag: 'unknown-tool', executed: 'no', nearest: [] })
    }
  })

  // BUG-077
  test('a tool that is called like a member of every object is a tool like others', async () => {
    const bench = await soundBench()
    for (const name of ['constructor', '__proto__', 'toString']) {
      const probe = probeTool({ name })
      await bench.register(probe.definition)
      expect((await bench.call(name)).result.outcome.tag).toBe('succeeded')
      expect(probe.runs).toBe(1)
    }
    expect(bench.ctx.tools.visible().map(({ name }) => name)).toEqual(['__proto__', 'constructor', 'toString'])
  })

  test('a name of any length and with half a character is quoted short and well-formed', async () => {
    const bench = await soundBench()
    const settled = await bench.call(`\ud800${'x'.repeat(1_000_000)}`)
    expect(JSON.stringify(settled.result.content).length).toBeLessThan(300)
    expect(settled.data.tool.isWellFormed()).toBe(true)
    expect(settled.result.tool).toBe(settled.data.tool)
  })
})

// 2.6
describe('a call id', () => {
  test('that the session has used gets a minted one in the log and in the result, the original is kept', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const first = await bench.call('probe', {}, { id: 'same' })
    const second = await bench.call('probe', {}, { id: 'same' })
    expect(first.callId).toBe('same')
    expect(second.callId).toMatch(/^call_[0-9a-z]{12}$/)
    expect(second.result.callId).toBe(second.callId)
    expect(eventsOf(bench, 'tool/call').map(({ callId, originalId }) => [callId, originalId])).toEqual([
      ['same', undefined],
      [second.callId, 'same'],
    ])
    expect(bench.results().map(({ callId }) => callId)).toEqual(['same', second.callId])
  })

  test('is unique within a batch too, and never empty', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const ids = ['a', 'a', '', '__proto__', '__proto__', 'constructor', '\ud800', '\ud801']
    const { calls } = await bench.ctx.tools.batch({
      session: bench.session,
      calls: ids.map((id) => ({ id, tool: 'probe', arguments: {} })),
    })
    const given = calls.map(({ callId }) => callId)
    expect(new Set(given).size).toBe(ids.length)
    expect(given.filter((id) => id.startsWith('call_'))).toHaveLength(4)
    expect(given.slice(3, 4)).toEqual(['__proto__'])
    expect(given.every((id) => id !== '' && id.isWellFormed())).toBe(true)
    expect(eventsOf(bench, 'tool/call').map(({ originalId }) => originalId)).toEqual([
      undefined,
      'a',
      '',
      undefined,
      '__proto__',
      undefined,
      undefined,
      '\ufffd',
    ])
  })

  test('that a nested call has is not given to another call, nor the other way round', async () => {
    const bench = await soundBench()
    await bench.register(probeTool({ name: 'inner', overlap: 'parallel' }).definition)
    await bench.register({
      ...probeTool({ name: 'outer', overlap: 'parallel' }).definition,
      execute: (_args, run) => run.call('inner', {}),
    })
    const { calls } = await bench.ctx.tools.batch({
      session: bench.session,
      calls: [
        { id: 'c', tool: 'outer', arguments: {} },
        { id: 'c.1', tool: 'inner', arguments: {} },
      ],
    })
    expect(calls.map(({ callId }) => callId)).toEqual(['c', 'c.1'])
    const nested = eventsOf(bench, 'tool/code-dispatch').map(({ callId }) => callId)
    expect(new Set(nested).size).toBe(1)
    expect(['c', 'c.1']).not.toContain(nested[0])
    expect((await bench.call('inner', {}, { id: String(nested[0]) })).callId).toMatch(/^call_/)
  })
})

// 2.8
describe('the record of a call', () => {
  test('every call of a batch is logged in request order before any of them goes on, failed admissions too', async () => {
    const bench = await soundBench()
    await bench.register(
      probeTool({
        parameters: { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false },
        annotations: { readOnly: true },
        presentCall: (args) => ({ v: 1, kind: 'read', title: 'Probe', path: String(args['n']) }),
      }).definition,
    )
    const seen: number[] = []
    const held = deferred()
    await bench.plugin('looks', (ctx) => {
      ctx.on('tools/prepare', async (_call, next) => {
        seen.push(eventsOf(bench, 'tool/call').length)
        await held.promise
        return next()
      })
    })
    const running = bench.ctx.tools.batch({
      session: bench.session,
      calls: [
        { id: 'good', tool: 'probe', arguments: ' {"n": 1} ' },
        { id: 'broken', tool: 'probe', arguments: '{"n": ' },
        { id: 'unknown', tool: 'porbe', arguments: { n: 2 } },
        { id: 'wrong', tool: 'probe', arguments: { n: 'x' } },
        { id: 'last', tool: 'probe', arguments: { n: 3 } },
      ],
    })
    await flushMicrotasks()
    expect(seen).toEqual([5, 5])
    held.resolve()
    await running
    const calls = eventsOf(bench, 'tool/call')
    expect(
      calls.map(({ callId, argumentsText, readOnly, batch, index }) => [callId, argumentsText, readOnly, batch, index]),
    ).toEqual([
      ['good', ' {"n": 1} ', true, 1, 0],
      ['broken', '{"n": ', true, 1, 1],
      ['unknown', '{"n":2}', false, 1, 2],
      ['wrong', '{"n":"x"}', true, 1, 3],
      ['last', '{"n":3}', true, 1, 4],
    ])
    expect(calls.map(({ arguments: args }) => args)).toEqual([{ n: 1 }, undefined, undefined, undefined, { n: 3 }])
    expect(calls.map(({ card }) => card.kind)).toEqual(['read', 'generic', 'generic', 'generic', 'read'])
  })

  test('batches are numbered', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await bench.call('probe')
    await bench.call('probe')
    expect(eventsOf(bench, 'tool/call').map(({ batch }) => batch)).toEqual([1, 2])
  })

  // 2.9
  test('arguments that cannot be used are quoted in the result', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const { result } = await bench.call('probe', '{"path": "a", oops}')
    expect(result.content).toEqual([
      {
        type: 'text',
        text: expect.stringMatching(
          /^The arguments of probe are invalid\. Nothing was run\.\n- \$: not JSON at position 14: .*\nYou wrote: \{"path": "a", oops\}$/,
        ) as string,
      },
    ])
  })

  test('a long text of arguments is quoted short, and cut on a character', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const { result } = await bench.call('probe', `"${'😀'.repeat(100_000)}`)
    const text = result.content[0]?.type === 'text' ? result.content[0].text : ''
    expect(text.length).toBeLessThan(1_000)
    expect(text.isWellFormed()).toBe(true)
  })

  // 2.9
  test('a rewrite is stated in the first line of the result, whatever came of the call', async () => {
    for (const denied of [false, true]) {
      const bench = await soundBench()
      await bench.register(probeTool({ body: (args) => `ran with ${String(args['n'])}` }).definition)
      const rewriter = await bench.plugin('rewriter', (ctx) => void ctx.on('tools/prepare', () => ({ n: 2 })))
      if (denied) await judges(bench, { denies: () => deny('no') })
      const { result } = await bench.call('probe', { n: 1 })
      expect(result.content[0]).toEqual({
        type: 'text',
        text: `[The arguments were changed by rewriter#${rewriter.uid} before the call: {"n":2}]`,
      })
      expect(result.content).toHaveLength(2)
    }
  })
})
