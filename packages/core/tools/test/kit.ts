/** Owns the bench of this package's tests: a context with World, memory store, sessions, tools and, if wanted, approval. */
import { callTable, type CallRequest, type Config, type SettledCall, type ToolDefinition, traceOf } from '@sluice/tools'
import * as toolsPlugin from '@sluice/tools'
import * as approvalPlugin from '@sluice/approval'
import { firstBadStep } from '@sluice/pipeline'
import * as sessionPlugin from '@sluice/session'
import { memoryStore, type Session, type SessionStore, type ToolResultData } from '@sluice/session'
import { type SimWorld, simWorld, worldPlugin } from '@sluice/testkit'
import { Context, type Fiber } from 'cordis'

export interface Bench {
  readonly ctx: Context
  readonly world: SimWorld
  readonly session: Session
  /** Mounts a plugin that does `apply` in a context with `tools`; its name decides what it may allow. */
  plugin(name: string, apply: (ctx: Context) => void): Promise<Fiber>
  register(definition: ToolDefinition): Promise<Fiber>
  /** Runs one call. Ids are `c1`, `c2`, … unless given. */
  call(
    tool: string,
    args?: CallRequest['arguments'],
    options?: { id?: string; signal?: AbortSignal; agent?: string },
  ): Promise<SettledCall>
  /** Data of every `tool/result`, in log order. */
  results(): ToolResultData[]
  /** What was reported to a person instead of changing an outcome. */
  readonly reports: readonly string[]
}

export interface BenchOptions {
  readonly config?: Partial<Config>
  readonly approval?: boolean
  /** Timers fire by themselves when nothing else can happen. Default true. */
  readonly autoAdvance?: boolean
  /** Where sessions are kept. Default: in memory. */
  readonly store?: SessionStore
}

export async function makeBench(options: BenchOptions = {}): Promise<Bench> {
  const world = simWorld({ autoAdvance: options.autoAdvance ?? true })
  const ctx = new Context()
  await ctx.plugin(worldPlugin(world))
  const reports: string[] = []
  ctx.logger.exporter({
    levels: { default: 0, tools: 3 },
    export: ({ args }) => void reports.push(args.slice(1).join(' ')),
  })
  const provideStore = (own: Context) => void own.provide('sessionStore', options.store ?? memoryStore())
  await ctx.plugin({ name: 'store', provide: ['sessionStore'], apply: provideStore })
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(toolsPlugin, { otherwise: 'allow', ...options.config })
  if (options.approval) await ctx.plugin(approvalPlugin)
  const session = await ctx.sessions.create({ cwd: '/proj' })
  let count = 0
  const plugin = async (name: string, apply: (ctx: Context) => void) =>
    (await ctx.plugin({ name, inject: ['tools'], apply })) as unknown as Fiber
  return {
    ctx,
    world,
    session,
    plugin,
    register: (definition) => plugin(`tool-${definition.name}`, (own) => void own.tools.register(definition)),
    call(tool, args = {}, { id = `c${++count}`, ...rest } = {}) {
      return ctx.tools.execute({ session, call: { id, tool, arguments: args }, ...rest })
    },
    results: () =>
      session.events
        .filter((event) => event.type === 'tool/result')
        .map((event) => event.data as unknown as ToolResultData),
    reports,
  }
}

/** `stage:outcome` of each step a call took. */
export function steps(settled: SettledCall): string[] {
  return (traceOf(settled.data) ?? []).map((step) => `${step.stage}:${step.outcome}`)
}

/** What `firstBadStep` says of a settled call's trace. */
export function badStep(settled: SettledCall) {
  return firstBadStep(callTable, traceOf(settled.data) ?? [])
}
