/** Owns how agents are mounted. */
import { type Context, symbols } from 'cordis'
import z from 'schemastery'
import { Listeners, watchdogOf } from '@sluice/listeners'
import { AgentsService } from './agents.ts'
import { lastRequest } from './request.ts'
import { turnsBefore } from './turn.ts'

export const name = 'agent'
export const inject = ['sessions', 'llm', 'tools', 'world']
export const provide = ['agents']

export interface Config {
  /** Model requests of one turn. */
  stepsMax: number
  /** Wall time of one turn. */
  turnMsMax: number
  /** Input and output tokens of all requests of one turn. */
  tokensMax: number
  /** How often plugins may send a turn on that the model has ended. */
  stopContinuesMax: number
  /** How many messages in a row with calls may be cut off at the output limit. */
  cutOffsMax: number
  /** Time of one listener, without its waits in next(). */
  verdictMsMax: number
}

const count = (fallback: number) => z.natural().min(1).default(fallback)

export const Config: z<Partial<Config>, Config> = z.object({
  stepsMax: count(200).description('Model requests of one turn.'),
  turnMsMax: count(3_600_000).description('Wall time of one turn, in milliseconds.'),
  tokensMax: count(20_000_000).description('Input and output tokens of all requests of one turn.'),
  stopContinuesMax: count(5).description('How often plugins may send a turn on that the model has ended.'),
  cutOffsMax: count(3).description('How many messages in a row with calls may be cut off at the output limit.'),
  verdictMsMax: count(60_000).description(
    'Time of one listener of a question, without its waits in next(), in milliseconds.',
  ),
})

export function apply(ctx: Context, config: Config): void {
  ctx.sessions.registerFold(turnsBefore)
  ctx.sessions.registerFold(lastRequest)
  const { world } = ctx
  const listeners = new Listeners(ctx)
  const askLimits = { watchdog: watchdogOf(world.clock), msOf: () => config.verdictMsMax }
  ctx.effect(function* () {
    const agents = new AgentsService({
      home: ctx,
      llm: bare(ctx.llm),
      tools: bare(ctx.tools),
      world,
      limits: config,
      listeners,
      askLimits,
    })
    // Runs last: whoever made an agent has closed it by then.
    yield () => agents.closeAll()
    yield ctx.provide('agents', agents)
  }, 'agents')
}

/** The service without the framework's tracing of its caller, which costs tens of microseconds a step; turns only use
 *  what needs no caller. */
function bare<T extends object>(service: T): T {
  return (service as { [symbols.original]?: T })[symbols.original] ?? service
}
