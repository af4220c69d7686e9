/** Guards against the same call made again and again. */
import { type Call, required } from '@sluice/tools'
import type { Context } from 'cordis'
import z from 'schemastery'
import { repeatedReason } from './prompt.ts'
import { recentCalls, repetitions } from './recent.ts'

export const name = 'repeat-guard'
export const inject = ['tools', 'sessions']

export interface Config {
  repeatsMax: number
  except: string[]
}

export const Config: z<Partial<Config>, Config> = z.object({
  repeatsMax: z
    .natural()
    .min(1)
    .max(20)
    .default(5)
    .description('How often the same call, or a cycle of up to three, may come in a row.'),
  except: z
    .array(z.string())
    .default([])
    .description('Tools that may be called again and again, such as those that poll.'),
})

export const apply = required((ctx: Context, config: Config): void => {
  const except = new Set(config.except)
  ctx.sessions.registerFold(recentCalls)
  ctx.tools.guard('repeat', (call: Call) => {
    if (except.has(call.tool) || call.parent !== undefined) return undefined
    const times = repetitions(call.session.fold(recentCalls), call.id)
    return times > config.repeatsMax ? repeatedReason(call.tool, times) : undefined
  })
})
