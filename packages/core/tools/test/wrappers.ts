/** Owns wrappers of the execute stage for tests. */
import type { Attempt, Call, ExecuteRun } from '@sluice/tools'
import type { Bench } from './kit.ts'

export type Wrapper = (call: Call, run: ExecuteRun, next: () => Promise<Attempt>) => unknown

export function wrap(bench: Bench, name: string, wrapper: Wrapper, order = 0) {
  return bench.plugin(name, (ctx) => void ctx.on('tools/execute', wrapper as never, { order }))
}

export const cached: Attempt = { status: 'succeeded', executed: 'no', value: 'cached' }
