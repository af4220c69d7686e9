/** Owns `ctx.tools`: registrations tied to the plugin that makes them, and batches of calls. */
import type { World } from '@sluice/base'
import type { Session } from '@sluice/session'
import { type Context, Service } from 'cordis'
import { toolsErrors } from './errors.ts'
import { type Listener, Listeners } from './listeners.ts'
import { runBatch } from './batch.ts'
import { runCall } from './machine.ts'
import { Registry } from './registry.ts'
import { RequiredPolicies } from './required.ts'
import { scopeOf } from './scope.ts'
import { Parallelism } from './places.ts'
import { Slots } from './slots.ts'
import type { Machine, ToolsConfig } from './state.ts'
import { callTable } from './table.ts'
import type {
  BatchRequest,
  CallRequest,
  Disposer,
  Guard,
  ListenerInfo,
  LivePipeline,
  Reach,
  Restriction,
  SettledBatch,
  SettledCall,
  ToolDefinition,
  ToolInfo,
  Tools,
} from './types.ts'
import { Watchdog } from './watchdog.ts'

/** Names of the events that the table opens to listeners. */
export const callEvents: readonly string[] = Object.values(callTable.stages).flatMap((row) =>
  'opened' in row && (row.opened.kind === 'waterfall' || row.opened.kind === 'notification') ? [row.opened.name] : [],
)

function infoOf(listener: Listener): ListenerInfo {
  return { plugin: listener.plugin, order: listener.order, scope: listener.scope }
}

export class ToolsService extends Service implements Tools {
  private readonly registry = new Registry()
  private readonly listeners: Listeners
  private readonly policies: RequiredPolicies
  private readonly machine: Machine
  private readonly slots = new WeakMap<Session, Slots>()
  private readonly world: World

  constructor(ctx: Context, config: ToolsConfig) {
    super(ctx, 'tools')
    const { world } = ctx
    this.world = world
    this.listeners = new Listeners(ctx, callEvents)
    this.policies = new RequiredPolicies(ctx)
    const logger = ctx.logger('tools')
    const root = ctx.root
    const waiting = new Set<() => void>()
    ctx.on('internal/status', () => {
      if (waiting.size > 0 && root.get('approval') === undefined) for (const gone of Array.from(waiting)) gone()
    })
    this.machine = Object.freeze({
      config,
      clock: world.clock,
      watchdog: new Watchdog(world.clock),
      registry: this.registry,
      listeners: this.listeners,
      missing: () => this.policies.missing(),
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
    })
  }

  register<Args>(definition: ToolDefinition<Args>): Disposer {
    const { ctx, registry } = this
    const add = () => registry.add(definition as unknown as ToolDefinition, ctx.fiber, scopeOf(ctx))
    return ctx.effect(add, `ctx.tools.register(${JSON.stringify(definition.name)})`)
  }

  guard(name: string, guard: Guard): Disposer {
    const { ctx, registry } = this
    return ctx.effect(
      () => registry.addGuard(name, guard, ctx.fiber, scopeOf(ctx)),
      `ctx.tools.guard(${JSON.stringify(name)})`,
    )
  }

  restrict(agent: string, rule: Restriction): Disposer {
    const { ctx, registry } = this
    return ctx.effect(() => registry.addRestriction(agent, rule), `ctx.tools.restrict(${JSON.stringify(agent)})`)
  }

  visible(agent?: string, reach?: Reach): readonly ToolInfo[] {
    return [...this.registry.view(agent, reach).values()].map((entry) => entry.info)
  }

  batch(request: BatchRequest): Promise<SettledBatch> {
    const once = { ...request }
    return runBatch(this.machine, this.world, this.slotsOf(once.session), once)
  }

  async execute(request: Omit<BatchRequest, 'calls'> & { readonly call: CallRequest }): Promise<SettledCall> {
    const { call, ...rest } = request
    const settled = await this.batch({ ...rest, calls: [call] })
    const first = settled.calls[0]
    if (!first) throw toolsErrors('TOOLS_MACHINERY', { stage: 'batch', problem: 'no call settled' })
    return first
  }

  live(): LivePipeline {
    const { config } = this.machine
    const listeners = callEvents.map((event) => [event, this.listeners.all(event).map(infoOf)] as const)
    const guards = this.registry.allGuards().map(({ name, plugin, scope }) => ({ name, plugin, scope, order: 0 }))
    return {
      listeners: new Map(listeners),
      guards,
      required: this.policies.names(),
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
