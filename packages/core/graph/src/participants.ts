/** Owns who takes part in a stage now: its listeners in dispatch order, guards, whoever has registered with a service. */
import type { Opening } from '@sluice/pipeline'
import type { ListenerInfo, LivePipeline } from '@sluice/tools'
import { type Booted, serviceOf } from './boot.ts'
import { Plugins } from './known-plugins.ts'

export interface Participant {
  readonly plugin: string
  /** What the composition file calls the entry that brought it, where that says more. */
  readonly from?: string
  /** What it has registered, where that is no listener. */
  readonly what?: string
  /** Of a listener; absent for 0. */
  readonly order?: number
  /** Agent that it is narrowed to. */
  readonly scope?: string
}

/** A participant in few words; `from` is left to those who want it. */
export function participantText({ plugin, what, order, scope }: Participant, from?: string): string {
  const said = what === undefined ? plugin : `${what} of ${plugin}`
  const tail = [from, order && `order ${order}`, scope && `only ${scope}`].filter((word) => word !== undefined)
  return tail.length === 0 ? said : `${said} (${tail.join(', ')})`
}

export class Participants {
  readonly plugins: Plugins
  readonly live: LivePipeline
  private readonly booted: Booted

  /** @throws GRAPH_SERVICE_MISSING */
  constructor(booted: Booted) {
    this.booted = booted
    this.plugins = new Plugins(booted)
    this.live = serviceOf(booted, 'tools').live()
  }

  of(opening: Opening | undefined): Participant[] {
    switch (opening?.kind) {
      case 'waterfall':
      case 'notification':
        return this.listenersOf(opening.name)
      case 'guards':
        return this.live.guards.map((guard) => this.named(guard, guard.name))
      case 'service':
        return this.registered(opening.name)
      case 'definition':
      case undefined:
        return []
    }
  }

  listenersOf(event: string): Participant[] {
    return this.booted.listeners.all(event).map((listener) => this.named(listener))
  }

  /** Plugins that provide `service`, which is called `ctx.name`. */
  providers(service: string): Participant[] {
    const providers = this.plugins.all.filter((plugin) => plugin.provides.some((name) => `ctx.${name}` === service))
    return providers.map((plugin) => this.named({ plugin: labelOf(plugin) }))
  }

  /** Whoever has registered something with the service: its methods are named in the labels of effects. */
  private registered(service: string): Participant[] {
    return this.plugins.all.flatMap((plugin) => {
      const labels = plugin.effects.filter((label) => label.startsWith(`${service}.`))
      return labels.map((label) => {
        const what = label.slice(service.length + 1).replace(/^(\w+)\("(.*)"\)$/, '$1 $2')
        return this.named({ plugin: labelOf(plugin) }, what)
      })
    })
  }

  private named(info: Pick<ListenerInfo, 'plugin'> & Partial<ListenerInfo>, what?: string): Participant {
    const { plugin, order = 0, scope } = info
    const from = this.plugins.sourceOf(plugin)
    return {
      plugin: this.plugins.nameOf(plugin),
      ...(from !== undefined && { from }),
      ...(what !== undefined && { what }),
      ...(order !== 0 && { order }),
      ...(scope !== undefined && { scope }),
    }
  }
}

function labelOf({ name, uid }: { readonly name: string; readonly uid: number }): string {
  return `${name}#${uid}`
}
