/** Owns a bench whose tool is a program of nested calls, for tests. */
import { isSluiceError, type Json } from '@sluice/base'
import type { KnownEvent } from '@sluice/session'
import type { Run } from '@sluice/tools'
import { probeTool } from '@sluice/testkit'
import type { Bench, BenchOptions } from './kit.ts'
import { soundBench } from './sound.ts'

/** A bench with a tool `program` whose body is given, and the tools `probe` (counts) and `broken`. */
export async function programs(body: (run: Run) => unknown, options: BenchOptions = {}) {
  const bench = await soundBench(options)
  const probe = probeTool({ overlap: 'parallel' })
  await bench.register(probe.definition)
  await bench.register(probeTool({ name: 'broken', body: () => Promise.reject(new Error('it broke')) }).definition)
  await bench.register(probeTool({ name: 'program', body: (_args, run) => body(run) }).definition)
  return { bench, probe }
}

export function person(bench: Bench, answer: (callId: string) => unknown) {
  return bench.ctx.plugin({
    name: 'person',
    inject: ['approval'],
    apply: (ctx) => void ctx.approval.answerer('person', ({ callId }) => answer(callId) as never),
  })
}

export function asking(bench: Bench, tool: string) {
  return bench.plugin('asking', (ctx) => {
    ctx.on('tools/pre-execute', (call, next) => (call.tool === tool ? { kind: 'ask', reason: 'sure?' } : next()))
  })
}

export function dispatches(bench: Bench): string[] {
  return (bench.session.events as readonly KnownEvent[]).flatMap(({ type, data }) =>
    type === 'tool/code-dispatch' ? [`${data.callId} of ${data.parent} ${data.phase}`] : [],
  )
}

export async function refusalOf(promise: Promise<unknown>): Promise<{ code: string; data: Record<string, Json> }> {
  const error: unknown = await promise.then(
    () => new Error('it was not refused'),
    (thrown: unknown) => thrown,
  )
  if (!isSluiceError(error)) throw error
  return error as unknown as { code: string; data: Record<string, Json> }
}
