/** Owns how agent events reach their listeners: sorted, named by plugin, each contained. */
import { messageOf } from '@sluice/base'
import type { Context, Events } from 'cordis'

export interface Listener {
  readonly plugin: string
  readonly order: number
  /** False once its plugin has been unloaded. */
  mounted(): boolean
  readonly call: (...args: unknown[]) => unknown
}

/** Listeners mounted now, by `order`, then by plugin. */
export function listenersOf(ctx: Context, event: keyof Events): readonly Listener[] {
  const hooks = ctx.events._hooks[event] ?? []
  return hooks
    .map((hook) => ({
      plugin: hook.ctx.fiber.name,
      order: hook.order ?? 0,
      mounted: () => hooks.includes(hook),
      call: hook.callback as Listener['call'],
    }))
    .sort((a, b) => a.order - b.order || (a.plugin < b.plugin ? -1 : a.plugin > b.plugin ? 1 : 0))
}

/** Tells each listener separately: a throw or rejection is logged with its plugin and starves nobody. */
export function notify(ctx: Context, event: keyof Events, ...args: unknown[]): void {
  for (const listener of listenersOf(ctx, event)) {
    const failed = (error: unknown) =>
      ctx.logger.warn('%s: listener of %s failed: %s', event, listener.plugin, messageOf(error))
    try {
      const returned = listener.call(...args)
      if (returned instanceof Promise) returned.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}
