/** Owns the listeners of the pipeline's events: Cordis' hooks compiled into sorted arrays with their true owners. */
import type { Context, Fiber } from 'cordis'
import { counts, scopeOf } from './scope.ts'

export interface Listener {
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly call: (...args: any[]) => unknown
  /** Name without uid. */
  readonly name: string
  /** `name#uid`. */
  readonly plugin: string
  readonly order: number
  readonly scope: string | undefined
  /** False when the owner was not seen at registration: such a listener can only restrict, and its name is a claim. */
  readonly known: boolean
  gone(): boolean
}

interface Hook {
  readonly ctx: Context
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly callback: ((...args: any[]) => unknown) & { [bareKey]?: (...args: any[]) => unknown }
  readonly order?: unknown
}

interface Owner {
  readonly fiber: Fiber
  readonly scope: string | undefined
}

const bareKey = Symbol.for('sluice.bare-listener')

/** Marks a listener so that it is called without Cordis' argument-tracing proxy. For listeners that take plain data only. */
// oxlint-disable-next-line typescript/no-explicit-any
export function bare<F extends (...args: any[]) => unknown>(listener: F): F {
  return Object.defineProperty(listener, bareKey, { value: listener })
}

export function pluginLabel(fiber: Fiber): string {
  return `${fiber.name}#${fiber.uid ?? 'gone'}`
}

const none: readonly Listener[] = Object.freeze([])

/** Watches the registrations under one context. */
export class Listeners {
  private readonly hooks: Record<string, Hook[] | undefined>
  private readonly owners = new WeakMap<object, Owner>()
  private readonly compiled = new Map<string, { kept: readonly Hook[]; list: readonly Listener[]; scoped: boolean }>()

  constructor(ctx: Context, events: readonly string[]) {
    this.hooks = ctx.events._hooks as unknown as Record<string, Hook[] | undefined>
    const owners = this.owners
    const watched = new Set(events)
    ctx.on('internal/listener', function (this: Context, name, listener) {
      if (watched.has(name)) owners.set(listener as object, { fiber: this.fiber, scope: scopeOf(this) })
    })
  }

  /** Those that count for `agent` now, in dispatch order. */
  of(event: string, agent: string | undefined): readonly Listener[] {
    const hooks = this.hooks[event]
    if (!hooks || hooks.length === 0) return none
    let entry = this.compiled.get(event)
    if (!entry || !same(entry.kept, hooks)) {
      const list = Object.freeze(this.compile(hooks))
      entry = { kept: [...hooks], list, scoped: list.some((listener) => listener.scope !== undefined) }
      this.compiled.set(event, entry)
    }
    return entry.scoped ? entry.list.filter((listener) => counts(listener.scope, agent)) : entry.list
  }

  all(event: string): readonly Listener[] {
    const hooks = this.hooks[event]
    return hooks ? this.compile(hooks) : none
  }

  private compile(hooks: readonly Hook[]): Listener[] {
    const list = hooks.map((hook): Listener => {
      const owner = this.owners.get(hook.callback)
      const fiber = owner?.fiber ?? hook.ctx.fiber
      return {
        call: hook.callback[bareKey] ?? hook.callback,
        name: fiber.name,
        plugin: owner ? pluginLabel(fiber) : `unverified ${pluginLabel(fiber)}`,
        order: typeof hook.order === 'number' && Number.isFinite(hook.order) ? hook.order : 0,
        scope: owner ? owner.scope : scopeOf(hook.ctx),
        known: owner !== undefined,
        gone: () => !hooks.includes(hook),
      }
    })
    return list.sort((a, b) => a.order - b.order || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }
}

function same(kept: readonly Hook[], now: readonly Hook[]): boolean {
  if (kept.length !== now.length) return false
  for (let i = 0; i < kept.length; i++) if (kept[i] !== now[i]) return false
  return true
}
