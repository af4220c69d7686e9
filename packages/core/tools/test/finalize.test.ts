/** Proves the finaliser: once on every call that reached prepare, and for the content only. */
import type { Call, ContentPart, ToolDefinition, ToolResult } from '@sluice/tools'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { steps } from './kit.ts'
import { stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

/** A tool that counts its finaliser. */
function finalised(finalizeContent: ToolDefinition['finalizeContent']): ToolDefinition {
  return probeTool({
    parameters: { type: 'object', properties: { as: { type: 'string' } }, required: ['as'] },
    finalizeContent: finalizeContent as never,
    body: ({ as }) => {
      if (as === 'failed') throw new Error('it broke')
      return 'secret'
    },
  }).definition
}

// 9.3
it('the finaliser runs exactly once on every call that reached prepare, and on no other', async () => {
  const bench = await soundBench()
  const seen: string[] = []
  await bench.register(
    finalised((call: Call, { outcome, content }: ToolResult) => {
      seen.push(`${String(call.args['as'])} ${outcome.tag}`)
      return [...content, { type: 'text', text: 'final' }]
    }),
  )
  const throws =
    (as: string) =>
    (call: Call, ...rest: unknown[]) => {
      if (call.args['as'] === as) throw new Error('tripped')
      return (rest.at(-1) as () => unknown)()
    }
  const abort = new AbortController()
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('no', (call) => (call.args['as'] === 'denied' ? 'not today' : undefined))
    ctx.on('tools/prepare', (call, next) => {
      if (call.args['as'] === 'stopped') abort.abort()
      return call.args['as'] === 'invalidated' ? {} : next()
    })
    for (const event of ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)
      ctx.on(event as 'tools/prepare', throws(`throws in ${event}`) as never)
  })
  const ways = {
    succeeded: 'succeeded',
    failed: 'failed',
    denied: 'denied',
    stopped: 'aborted',
    invalidated: 'invalid',
    'throws in tools/prepare': 'denied',
    'throws in tools/pre-execute': 'denied',
    'throws in tools/execute': 'failed',
    'throws in tools/post-execute': 'failed',
  }
  for (const [as, tag] of Object.entries(ways)) {
    seen.length = 0
    const { result } = await bench.call('probe', { as }, as === 'stopped' ? { signal: abort.signal } : {})
    expect(seen).toEqual([as === 'invalidated' ? 'undefined invalid' : `${as} ${tag}`])
    expect(result.outcome.tag).toBe(tag)
    expect(result.content.at(-1)).toEqual({ type: 'text', text: 'final' })
  }
  seen.length = 0
  await bench.call('probe', {})
  await bench.call('prob', {})
  await bench.call('probe', { as: 'x' }, { signal: AbortSignal.abort() })
  expect(seen).toEqual([])
})

// 9.3
it('a finaliser that throws, promises or returns no content loses the content and keeps the rest', async () => {
  const finalisers: (() => unknown)[] = [
    () => {
      throw new Error('secret too')
    },
    () => Promise.resolve([]),
    () => Promise.reject(new Error('later')),
    () => undefined,
    () => [{ type: 'text' }],
    () => 5,
  ]
  for (const finalizeContent of finalisers) {
    const bench = await soundBench()
    const tool = await bench.register(finalised(finalizeContent as never))
    await bench.plugin('rules', (ctx) => {
      ctx.tools.guard('no', (call) => (call.args['as'] === 'denied' ? 'not today' : undefined))
    })
    const success = await bench.call('probe', { as: 'x' })
    expect(success.result.outcome).toMatchObject({
      tag: 'failed',
      executed: 'yes',
      code: 'TOOLS_FINALIZER_FAILED',
      by: `tool-probe#${tool.uid}`,
    })
    expect(success.result.value).toBeUndefined()
    expect(JSON.stringify([success.result.content, success.data.card])).not.toContain('secret')
    expect(steps(success)).toContain('finalize:dropped')
    expect(stepOf(success, 'finalize')).toMatchObject({ by: `tool-probe#${tool.uid}`, code: 'TOOLS_FINALIZER_FAILED' })
    expect((await bench.call('probe', { as: 'failed' })).result.outcome).toMatchObject({
      tag: 'failed',
      executed: 'yes',
      message: 'it broke',
    })
    const denied = await bench.call('probe', { as: 'denied' })
    expect(denied.result.outcome).toMatchObject({ tag: 'denied', executed: 'no', reason: 'not today' })
    expect(JSON.stringify(denied.result.content)).toContain('TOOLS_FINALIZER_FAILED')
    await flushMicrotasks()
  }
})

// 9.3, 13.4
it('a finaliser whose plugin is gone is never called', async () => {
  const bench = await soundBench()
  let calls = 0
  const tool = await bench.register(
    finalised((_call, { content }) => {
      calls++
      return content as ContentPart[]
    }),
  )
  await bench.plugin('unload', (ctx) => {
    ctx.on('tools/post-execute', async (_call, _result, next) => {
      await tool.dispose()
      return next()
    })
  })
  const settled = await bench.call('probe', { as: 'x' })
  expect(calls).toBe(0)
  expect(settled.result.outcome).toMatchObject({ tag: 'failed', executed: 'yes', code: 'TOOLS_FINALIZER_FAILED' })
  expect(steps(settled)).toContain('finalize:dropped')
})

// 9.3, 8.1
it('a finaliser may change the content only', async () => {
  const bench = await soundBench()
  const frozen: boolean[] = []
  await bench.register(
    finalised((_call, result) => {
      frozen.push(Object.isFrozen(result), Object.isFrozen(result.outcome), Object.isFrozen(result.content))
      try {
        Object.assign(result, { outcome: { tag: 'succeeded', executed: 'no' }, value: 'forged' })
      } catch {
        // Refused, as it should be.
      }
      return [{ type: 'text', text: 'final' }]
    }),
  )
  const { result } = await bench.call('probe', { as: 'failed' })
  expect(result.outcome.tag).toBe('failed')
  expect(result.value).toBeUndefined()
  expect(frozen).toEqual([true, true, true])
})
