/** Owns short words for mounting listeners in tests, and for reading what a call's trace says of them. */
import { type Asked, type Call, type SettledCall, type TraceStep, traceOf, type Verdict } from '@sluice/tools'
import type { Fiber } from 'cordis'
import type { Bench } from './kit.ts'

export type VerdictListener = (call: Call, next: () => PromiseLike<Verdict>) => unknown

/** Mounts each listener in a plugin of its own, called like its key, in the order of the keys. */
export async function judges(bench: Bench, listeners: Record<string, VerdictListener>): Promise<Fiber[]> {
  const fibers: Fiber[] = []
  for (const [order, [name, listener]] of Object.entries(listeners).entries())
    fibers.push(await bench.plugin(name, (ctx) => void ctx.on('tools/pre-execute', listener as never, { order })))
  return fibers
}

export function deny(reason: string): Verdict {
  return { kind: 'deny', reason }
}

export function ask(reason: string): Verdict {
  return { kind: 'ask', reason }
}

export const allow: Verdict = { kind: 'allow' }

export function stepOf(settled: SettledCall, stage: string): TraceStep {
  const step = (traceOf(settled.data) ?? []).find((each) => each.stage === stage)
  if (!step) throw new Error(`the call took no step ${stage}`)
  return step
}

/** Who was asked in a stage, with what they said: `name` for an abstention, `name:said` otherwise. Uids are left out. */
export function askedIn(settled: SettledCall, stage = 'pre-execute'): string[] {
  return (stepOf(settled, stage).asked ?? []).map((asked) =>
    typeof asked === 'string' ? bareName(asked) : `${bareName(asked.plugin)}:${asked.said}`,
  )
}

/** The full record of one plugin in a stage. */
export function saidBy(settled: SettledCall, name: string, stage = 'pre-execute'): Exclude<Asked, string> {
  for (const asked of stepOf(settled, stage).asked ?? [])
    if (typeof asked !== 'string' && bareName(asked.plugin) === name) return asked
  throw new Error(`${name} said nothing`)
}

export function bareName(plugin: string): string {
  return plugin.replace(/#\d+.*$/, '')
}
