import { contractLimits } from '@sluice/code-mode/contract'
import * as quickjs from '@sluice/code-quickjs'
import { Context } from 'cordis'
import { expect, test } from 'vitest'

test('unloading ends every thread and fails the programs that run', async () => {
  const ctx = new Context()
  const fiber = await ctx.plugin(quickjs, { keepMax: 1 })
  const codeRuntime = ctx.get('codeRuntime') as typeof ctx.codeRuntime
  const signal = new AbortController().signal
  let called: () => void = () => {}
  const waits = new Promise<void>((resolve) => (called = resolve))
  const { outcome } = codeRuntime.run({
    program: 'await tools.wait({})',
    bindings: ['wait'],
    limits: contractLimits,
    signal,
    call: () => {
      called()
      return new Promise(() => {})
    },
  })
  await waits
  await fiber.dispose()
  expect((await outcome).kind).toBe('crash')
  expect(ctx.get('codeRuntime')).toBeUndefined()
})

test('unloading fails the programs that still wait for a thread', async () => {
  const ctx = new Context()
  const fiber = await ctx.plugin(quickjs, { threadsMax: 1 })
  const { codeRuntime } = ctx
  const signal = new AbortController().signal
  const request = { bindings: ['wait'], limits: contractLimits, signal }
  let called: () => void = () => {}
  const waits = new Promise<void>((resolve) => (called = resolve))
  const call = () => {
    called()
    return new Promise<never>(() => {})
  }
  const first = codeRuntime.run({ ...request, program: 'await tools.wait({})', call })
  const second = codeRuntime.run({ ...request, program: 'return 1', call })
  await waits
  await fiber.dispose()
  expect((await first.outcome).kind).toBe('crash')
  expect((await second.outcome).kind).toBe('crash')
})

test('a run that was stopped before it began starts no program', async () => {
  const ctx = new Context()
  await ctx.plugin(quickjs)
  const signal = AbortSignal.abort()
  const call = () => Promise.reject(new Error('called'))
  const run = ctx.codeRuntime.run({ program: 'return 1', bindings: [], limits: contractLimits, signal, call })
  expect(await run.outcome).toMatchObject({ kind: 'abort', calls: 0 })
  await ctx.fiber.dispose()
})

// BUG-081
test('a program with many calls leaves the host time for others', async () => {
  const ctx = new Context()
  await ctx.plugin(quickjs)
  let inTurn = 0
  let most = 0
  let next: NodeJS.Immediate
  const turn = () => {
    inTurn = 0
    next = setImmediate(turn)
  }
  turn()
  const run = ctx.codeRuntime.run({
    program: 'for (let i = 0; i < 10_000; i++) tools.echo({ i }); return 1',
    bindings: ['echo'],
    limits: { ...contractLimits, callsMax: 10_000 },
    signal: new AbortController().signal,
    call: (_binding, value) => {
      // The host is busy with the first call while the program makes the others: they come all together.
      if (most === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
      most = Math.max(most, ++inTurn)
      return Promise.resolve({ ok: true, value })
    },
  })
  expect(await run.outcome).toMatchObject({ kind: 'value', calls: 10_000 })
  clearImmediate(next!)
  expect(most).toBeLessThan(1_000)
  await ctx.fiber.dispose()
})

test('as many programs as there are threads may start at once, and the others follow', async () => {
  const ctx = new Context()
  await ctx.plugin(quickjs, { threadsMax: 6, keepMax: 0 })
  const signal = new AbortController().signal
  const call = () => Promise.reject(new Error('called'))
  const values = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const run = ctx.codeRuntime.run({ program: `return ${n}`, bindings: [], limits: contractLimits, signal, call })
      const outcome = await run.outcome
      return outcome.kind === 'value' ? outcome.value : outcome
    }),
  )
  expect(values).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  await ctx.fiber.dispose()
})

test('a limit that is longer than a timer can wait ends nothing early', async () => {
  const ctx = new Context()
  await ctx.plugin(quickjs)
  const warnings: Error[] = []
  const warned = (warning: Error) => void warnings.push(warning)
  process.on('warning', warned)
  const run = ctx.codeRuntime.run({
    program: 'await sleep(3); return 1',
    bindings: [],
    limits: { ...contractLimits, activeMs: 2 ** 40, wallMs: 2 ** 40 },
    signal: new AbortController().signal,
    call: () => Promise.reject(new Error('called')),
  })
  expect(await run.outcome).toMatchObject({ kind: 'value', value: 1 })
  await ctx.fiber.dispose()
  process.off('warning', warned)
  expect(warnings).toEqual([])
})
