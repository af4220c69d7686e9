/** Wraps `tools/execute`: a failed read-only or idempotent call runs again, a bounded number of times. */
import { type Clock, sleep } from '@sluice/base'
import { type Attempt, type Call, type ExecuteRun, required } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'

export const name = 'retry'
export const inject = ['tools', 'world']

export interface Config {
  triesMax: number
  backoffMs: number
  backoffMaxMs: number
  codes: string[]
}

export const Config: z<Partial<Config>, Config> = z.object({
  triesMax: z.natural().min(1).max(10).default(3).description('Tries in all.'),
  backoffMs: z.natural().default(200).description('Pause before the second try; doubled before each further one.'),
  backoffMaxMs: z.natural().default(5_000).description('Longest pause.'),
  codes: z.array(z.string()).default(['TOOLS_BODY_FAILED']).description('Failures that are worth another try.'),
})

export function worthAnotherTry(config: Config, call: Pick<Call, 'annotations'>, attempt: Attempt): boolean {
  const { readOnly, idempotent } = call.annotations
  if (!(readOnly || idempotent)) return false
  return attempt.status === 'failed' && attempt.executed !== 'unknown' && config.codes.includes(attempt.code)
}

export function pauseBefore(config: Config, nextTry: number): number {
  return Math.min(config.backoffMaxMs, config.backoffMs * 2 ** (nextTry - 2))
}

interface Trying {
  readonly call: Call
  readonly run: ExecuteRun
  readonly next: () => Promise<Attempt>
}

async function tryAgain(config: Config, clock: Clock, { call, run, next }: Trying): Promise<Attempt> {
  let attempt = await next()
  for (let number = 2; number <= config.triesMax && worthAnotherTry(config, call, attempt); number++) {
    try {
      await sleep(clock, pauseBefore(config, number), run.signal)
    } catch {
      return attempt
    }
    attempt = await next()
  }
  return attempt
}

export const apply = required((ctx: Context, config: Config): void => {
  const { clock } = ctx.world
  ctx.on('tools/execute', (call, run, next) => tryAgain(config, clock, { call, run, next }))
})
