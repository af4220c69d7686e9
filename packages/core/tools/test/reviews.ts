/** Owns post-execute listeners and results of every kind for tests. */
import type { Call, PassedOn, ToolResult } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import type { Bench, BenchOptions } from './kit.ts'
import { soundBench } from './sound.ts'

export type Next = () => PromiseLike<PassedOn>

export type Review = (call: Call, result: ToolResult, next: Next) => unknown

export function review(bench: Bench, name: string, listener: Review, order = 0) {
  return bench.plugin(name, (ctx) => void ctx.on('tools/post-execute', listener as never, { order }))
}

export function textOf(result: ToolResult): string {
  return result.content.map((part) => (part.type === 'text' ? part.text : part.mediaType)).join('|')
}

/** A bench whose tool `end` ends as its argument `as` says, for each way to end that post-execute sees. */
export async function endings(options: BenchOptions = {}) {
  const bench = await soundBench({ ...options, config: { graceMs: 100, ...options.config } })
  const abort = new AbortController()
  await bench.register(
    probeTool({
      name: 'end',
      overlap: 'parallel',
      body: ({ as }) => {
        if (as === 'failed') throw new Error('it broke')
        if (as === 'aborted') abort.abort(new Error('stop'))
        if (as === 'aborted' || as === 'timed-out') return new Promise(() => {})
        return { fine: true }
      },
    }).definition,
  )
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('no', (call) => (call.args['as'] === 'denied' ? 'not today' : undefined))
    ctx.on('tools/execute', (_call, run, next) => {
      run.deadline(1000)
      return next()
    })
  })
  const end = (as: string) => bench.call('end', { as }, as === 'aborted' ? { signal: abort.signal } : {})
  return { bench, end }
}

export const tags = ['succeeded', 'failed', 'denied', 'timed-out', 'aborted']
