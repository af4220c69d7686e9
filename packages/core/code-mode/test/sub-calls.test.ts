/** Proves that calls of a program are ordinary calls, and that the log has what is needed to run the program again. */
import type { Json } from '@sluice/base'
import type { CodeReply } from '@sluice/code-mode'
import { contractLimits } from '@sluice/code-mode/contract'
import type { KnownEvent, Session, ToolResultData } from '@sluice/session'
import { deferred, scriptedModel } from '@sluice/testkit'
import { afterEach, expect, test } from 'vitest'
import { makeBench, valueOf } from './kit.ts'

let bench: Awaited<ReturnType<typeof makeBench>>
afterEach(() => bench.ctx.fiber.dispose())

// 4.3, 10.2, 11.2
test('calls that may overlap do, start in the order of the program, and settle when they happen', async () => {
  bench = await makeBench()
  const gates = [deferred<Json>(), deferred<Json>(), deferred<Json>()]
  await bench.tool({
    name: 'probe',
    execute: ({ n }) => {
      // The last to start lets all go, last first: each waits for the one after it.
      if (n === 2) gates[2]?.resolve('c')
      return (gates[Number(n)] as (typeof gates)[0]).promise.finally(() =>
        gates[Number(n) - 1]?.resolve(`${Number(n)}`),
      )
    },
  })
  const settled = await bench.program('return await Promise.all([0, 1, 2].map((n) => tools.probe({ n })))')
  expect(valueOf(settled)).toEqual(['1', '2', 'c'])
  expect(bench.dispatches().map(({ callId, phase }) => `${callId} ${phase}`)).toEqual([
    'c1.1 start',
    'c1.2 start',
    'c1.3 start',
    'c1.3 settle',
    'c1.2 settle',
    'c1.1 settle',
  ])
})

// 7.4, 11.2
test('the start of a sub-call that may change something is in the log before its body starts', async () => {
  bench = await makeBench()
  const started = () =>
    bench.session.events.flatMap((event) =>
      event.type === 'tool/started' ? [(event.data as { callId: string }).callId] : [],
    )
  const seen: string[][] = []
  await bench.tool({ name: 'change', execute: () => void seen.push(started()) })
  await bench.tool({ name: 'look', annotations: { readOnly: true }, execute: () => void seen.push(started()) })
  await bench.program('await tools.change({}); await tools.look({}); return 1')
  expect(seen).toEqual([
    ['c1', 'c1.1'],
    ['c1', 'c1.1'],
  ])
})

// BUG-083
test('twenty calls that ask at once are twenty questions', async () => {
  bench = await makeBench()
  await bench.plugin('careful', (own) => {
    own.on('tools/pre-execute', (call, next) => (call.parent ? { kind: 'ask', reason: 'sure?' } : next()))
  })
  let runs = 0
  await bench.tool({ name: 'probe', execute: () => ++runs })
  let open = 0
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  bench.ctx.approval.answerer('person', async ({ callId }) => {
    open = Math.max(open, bench.ctx.approval.open().length)
    await new Promise((resolve) => setImmediate(resolve))
    return { callId, kind: Number(callId.slice(3)) % 2 ? 'reject' : 'allow-once' }
  })
  const settled = await bench.program(`
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => tools.probe({})))
    return all.filter(({ reason }) => reason?.code === 'denied' && reason.executed === 'no').length`)
  process.off('warning', warned)
  expect([valueOf(settled), runs, open]).toEqual([10, 10, 20])
  expect(warnings).toEqual([])
  expect(bench.session.events.filter(({ type }) => type === 'tool/call')).toHaveLength(1)
})

// 11.3, 10.4, BUG-083
test('what a sub-call adds for the model comes after the result of the program', async () => {
  bench = await makeBench()
  await bench.tool({ name: 'probe', execute: (_, run) => run.context('remember this') })
  const script = scriptedModel([
    { calls: [{ name: 'run_code', args: { program: 'await tools.probe({}); return 1' } }] },
    'done',
  ])
  bench.ctx.llm.register('script', script)
  await bench.ctx.agents.create({ session: bench.session, model: 'script/any' }).send('go')
  const last = script.requests[1]?.messages.slice(-2).map(({ role, content }) => [role, JSON.stringify(content)])
  expect(last?.map(([role]) => role)).toEqual(['tool', 'user'])
  expect(last?.[1]?.[1]).toContain('remember this')
  script.verify()
})

// BUG-080
test.each([
  ['await new Promise(() => {})', 'never settles', 0],
  ['tools.boom({}); return 1', 1, 1],
  ['tools.ok({}); return 1', 1, 1],
  ['await Promise.all([tools.ok({}), tools.boom({})])', 'broke', 2],
  ['sleep(5).then(() => tools.ok({})); return 1', 1, 0],
])('%s ends, and every call has its record before the program has its result', async (text, comes, calls) => {
  bench = await makeBench()
  await bench.tool({ name: 'ok', execute: () => 1 })
  await bench.tool({
    name: 'boom',
    execute: () => {
      throw new Error('broke')
    },
  })
  const settled = await bench.program(text)
  const { outcome } = settled.result
  if (typeof comes === 'number') expect(valueOf(settled)).toBe(comes)
  else expect(outcome).toMatchObject({ tag: 'failed', message: expect.stringContaining(comes) })
  const phases = bench.dispatches().map(({ phase }) => phase)
  expect([phases.filter((phase) => phase === 'start').length, phases.length]).toEqual([calls, 2 * calls])
  expect(bench.session.events.at(-1)?.type).toBe('tool/result')
})

// BUG-081
test.each([
  ['for (;;) {}', 'timeout'],
  ['while (true) await null', 'timeout'],
  ['const a = []; for (;;) a.push({ a })', 'memory'],
  ['return "a".repeat(2 ** 29)', 'memory'],
  ['const f = () => f() + 1; return f()', 'exception'],
  ['return /(a+)+$/.test("a".repeat(60) + "b")', 'timeout'],
])('%s is a failed call, and the next program works', async (text, kind) => {
  bench = await makeBench({ activeMs: kind === 'timeout' ? 400 : 30_000, memoryBytes: 16 * 1024 * 1024 })
  const { result } = await bench.program(`globalThis.left = 1; ${text}`)
  expect(result.outcome).toMatchObject({ tag: 'failed', code: 'CODE_FAILED' })
  const words = { timeout: /took too long/, memory: /too much memory/, exception: /threw/ }
  expect(result.outcome).toMatchObject({ message: expect.stringMatching(words[kind as keyof typeof words]) })
  expect(valueOf(await bench.program('return [1 + 1, typeof globalThis.left]'))).toEqual([2, 'undefined'])
})

/** The replies that a program was given, in the order of its calls. */
async function recorded(session: Session, parent: string): Promise<CodeReply[]> {
  const events = (session.events as readonly KnownEvent[]).flatMap((event) =>
    event.type === 'tool/code-dispatch' && event.data.parent === parent ? [event.data] : [],
  )
  const results = new Map(events.flatMap(({ callId, result }) => (result ? [[callId, result] as const] : [])))
  const starts = events.filter(({ phase }) => phase === 'start')
  return Promise.all(starts.map(({ callId }) => replyOf(session, results.get(callId) as ToolResultData)))
}

async function replyOf(session: Session, { tool, outcome, value, valueBlob }: ToolResultData): Promise<CodeReply> {
  if (outcome.tag === 'denied')
    return { ok: false, code: 'denied', tool, reason: outcome.reason, executed: outcome.executed }
  if (!valueBlob) return { ok: true, value: value ?? null }
  const bytes = await session.getBlob(valueBlob.blob)
  return { ok: true, value: JSON.parse(new TextDecoder().decode(bytes)) as Json }
}

// 4.5
test('what bindings returned is kept, large values by digest, and the program can be run again with it', async () => {
  bench = await makeBench()
  let runs = 0
  await bench.tool({ name: 'rows', execute: () => Array.from({ length: 5_000 }, (_, n) => `row ${n} of ${++runs}`) })
  await bench.tool({ name: 'count', execute: () => ++runs })
  await bench.tool({ name: 'secret', execute: () => ++runs })
  await bench.plugin(
    'no',
    (own) => void own.tools.guard('no', ({ tool }) => (tool === 'secret' ? 'not yours' : undefined)),
  )
  const text = `
    const [rows, n] = await Promise.all([tools.rows({}), tools.count({})])
    const why = await tools.secret({}).catch((error) => [error.code, error.reason, error.executed])
    return [rows.length, rows.at(-1), n, why, await tools.count({})]`
  const settled = await bench.program(text)
  const large = bench.dispatches().find(({ result }) => result?.valueBlob)?.result
  expect(large?.value).toBeUndefined()
  expect(large?.valueBlob?.blob.digest).toMatch(/^[0-9a-f]{64}$/)

  const replies = await recorded(bench.session, 'c1')
  const ran = runs
  const again = bench.ctx.codeRuntime.run({
    program: text,
    bindings: bench.ctx.tools.visible(undefined, 'nested').map(({ name }) => name),
    limits: contractLimits,
    signal: new AbortController().signal,
    call: () => Promise.resolve(replies.shift() as CodeReply),
  })
  expect(await again.outcome).toMatchObject({ kind: 'value', value: valueOf(settled) })
  expect(runs).toBe(ran)
  expect(replies).toEqual([])
  expect(bench.session.events.filter(({ type }) => type === 'tool/call')).toHaveLength(1)
})
