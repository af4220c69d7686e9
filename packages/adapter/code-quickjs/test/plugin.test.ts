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
