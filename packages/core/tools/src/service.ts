/** Owns `ctx.tools`: registrations tied to the plugin that makes them, and batches of calls. */
import type { World } from '@sluice/base'
import type { Session } from '@sluice/session'
import { type Context, Service } from 'cordis'
import { type Listener, Listeners, RequiredPlugins, scopeOf, watchdogOf } from '@sluice/listeners'
import { runBatch } from './batch.ts'
import type { ToolDefinition, ToolInfo } from './definition.ts'
import type { Guard } from './guards.ts'
import { runCall } from './machine.ts'
import type { Config } from './plugin.ts'
import { Registry } from './registry.ts'
import { Parallelism, Slots } from './slots.ts'
import type { Machine } from './state.ts'
import { callTable } from './table.ts'
import type * as words from './types.ts'

/** Names of the events that the table opens to listeners. */
export const callEvents: readonly string[] = Object.values(callTable.stages).flatMap((row) =>
  'opened' in row && (row.opened.kind === 'waterfall' || row.opened.kind === 'notification') ? [row.opened.name] : [],
)

function infoOf(listener: Listener): words.ListenerInfo {
  return { plugin: listener.plugin, order: listener.order, scope: listener.scope }
}

export class ToolsService extends Service implements words.Tools {
  private readonly registry = new Registry()
  private readonly machine: Machine
  private readonly slots = new WeakMap<Session, Slots>()
  private readonly world: World

  constructor(ctx: Context, config: Config) {
    super(ctx, 'tools')
    const { world } = ctx
    this.world = world
    const logger = ctx.logger('tools')
    const root = ctx.root
    const waiting = new Set<() => void>()
    ctx.on('internal/status', () => {
      if (root.get('approval') === undefined) for (const gone of Array.from(waiting)) gone()
    })
    this.machine = {
      config,
      clock: world.clock,
      limits: {
        watchdog: watchdogOf(world.clock),
        msOf: (event: string) => config.listenerTimeouts[event] ?? config.listenerTimeoutMs,
      },
      registry: this.registry,
      listeners: new Listeners(ctx),
      policies: new RequiredPlugins(ctx),
      approval: () => root.get('approval'),
      onApprovalGone(callback: () => void) {
        waiting.add(callback)
        return () => void waiting.delete(callback)
      },
      report(message: string) {
        try {
          logger.warn('%s', message)
        } catch {
          // Where messages go is not the call's concern.
        }
      },
      run: runCall,
    }
  }

  register<Args>(definition: ToolDefinition<Args>): words.Disposer {
    const { ctx, registry } = this
    const add = () => registry.add(definition as unknown as ToolDefinition, ctx.fiber, scopeOf(ctx))
    return ctx.effect(add, `ctx.tools.register(${JSON.stringify(definition.name)})`)
  }

  guard(name: string, guard: Guard): words.Disposer {
    const { ctx, registry } = this
    return ctx.effect(
      () => registry.addGuard(name, guard, ctx.fiber, scopeOf(ctx)),
      `ctx.tools.guard(${JSON.stringify(name)})`,
    )
  }

  restrict(agent: string, rule: words.Restriction): words.Disposer {
    const { ctx, registry } = this
    return ctx.effect(() => registry.addRestriction(agent, rule), `ctx.tools.restrict(${JSON.stringify(agent)})`)
  }

  filter(filter: words.ToolFilter): words.Disposer {
    const { ctx, registry } = this
    return ctx.effect(() => registry.addFilter(filter), 'ctx.tools.filter')
  }

  visible(agent?: string, reach?: words.Reach): readonly ToolInfo[] {
    return [...this.registry.view(agent, reach).values()].map((entry) => entry.info)
  }

  batch(request: words.BatchRequest): Promise<words.SettledBatch> {
    const once = { ...request }
    return runBatch(this.machine, this.world, this.slotsOf(once.session), once)
  }

  async execute(
    request: Omit<words.BatchRequest, 'calls'> & { readonly call: words.CallRequest },
  ): Promise<words.SettledCall> {
    const { call, ...rest } = request
    const { calls } = await this.batch({ ...rest, calls: [call] })
    return calls[0] as words.SettledCall
  }

  live(): words.LivePipeline {
    const { config, listeners: mounted, policies } = this.machine
    const listeners = callEvents.map((event) => [event, mounted.all(event).map(infoOf)] as const)
    const guards = this.registry.allGuards().map(({ name, plugin, scope }) => ({ name, plugin, scope, order: 0 }))
    return {
      listeners: new Map(listeners),
      guards,
      required: policies.names(),
      mayAllow: config.mayAllow,
      otherwise: config.otherwise,
    }
  }

  private slotsOf(session: Session): Slots {
    let slots = this.slots.get(session)
    if (!slots) {
      slots = new Slots(new Parallelism(this.machine.config.parallelMax))
      this.slots.set(session, slots)
    }
    return slots
  }
}
