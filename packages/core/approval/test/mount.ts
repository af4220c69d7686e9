/** Owns the bench of this package's tests: tools, approval and a probe whose every call is asked about. */
import type { KnownEvent, Session, SessionEventMap } from '@sluice/session'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import { type ProbeTool, probeTool, type SimWorld, simWorld, worldPlugin } from '@sluice/testkit'
import * as toolsPlugin from '@sluice/tools'
import type { AskVerdict, SettledCall } from '@sluice/tools'
import * as approvalPlugin from '@sluice/approval'
import type { Answerer, AnswererOptions } from '@sluice/approval'
import { Context, type Fiber } from 'cordis'

export interface Bench {
  readonly ctx: Context
  readonly world: SimWorld
  readonly session: Session
  readonly probe: ProbeTool
  readonly approval: Fiber
  readonly reports: readonly string[]
  call(args?: object, options?: { id?: string; signal?: AbortSignal }): Promise<SettledCall>
  answerer(name: string, answer: Answerer, options?: AnswererOptions): Promise<Fiber>
  /** `asked c1` and `decided c1 rejected`, in log order. */
  log(): string[]
  decided(): Readonly<SessionEventMap['approval/decided']>[]
}

export interface BenchOptions {
  readonly expiryMs?: number
  readonly autoAdvance?: boolean
  /** What each call is asked about with. */
  readonly ask?: Partial<AskVerdict>
}

export async function mount(options: BenchOptions = {}): Promise<Bench> {
  const world = simWorld({ autoAdvance: options.autoAdvance ?? false })
  const ctx = new Context()
  const reports: string[] = []
  ctx.logger.exporter({
    levels: { default: 0, approval: 3 },
    export: ({ args }) => void reports.push(args.slice(1).join(' ')),
  })
  await ctx.plugin(worldPlugin(world))
  await ctx.plugin(memoryStorePlugin)
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(toolsPlugin)
  const approval = (await ctx.plugin(approvalPlugin, { expiryMs: options.expiryMs ?? 0 })) as unknown as Fiber
  const probe = probeTool({ overlap: 'parallel', specifier: ({ path }) => path as string | undefined })
  const apply = (own: Context) => {
    own.tools.register(probe.definition)
    own.on('tools/pre-execute', () => ({ kind: 'ask', reason: 'it changes a file', ...options.ask }))
  }
  await ctx.plugin({ name: 'asker', inject: ['tools'], apply })
  const session = await ctx.sessions.create({ cwd: '/proj' })
  const events = () => session.events as readonly KnownEvent[]
  let count = 0
  return {
    ctx,
    world,
    session,
    probe,
    approval,
    reports,
    call: (args = {}, { id = `c${++count}`, ...rest } = {}) =>
      ctx.tools.execute({ session, call: { id, tool: 'probe', arguments: args as never }, ...rest }),
    answerer: async (name, answer, more) =>
      (await ctx.plugin({
        name,
        inject: ['approval'],
        apply: (own: Context) => void own.approval.answerer(name, answer, more),
      })) as unknown as Fiber,
    log: () =>
      events().flatMap((event) => {
        if (event.type === 'approval/asked') return [`asked ${event.data.callId}`]
        if (event.type === 'approval/decided') return [`decided ${event.data.callId} ${event.data.decision}`]
        return []
      }),
    decided: () => events().flatMap((event) => (event.type === 'approval/decided' ? [event.data] : [])),
  }
}
