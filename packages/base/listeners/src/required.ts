/** Owns plugins that must be there to be asked: which of them are not active. */
import type { Context, Fiber } from 'cordis'

const mark = Symbol.for('sluice.required')

/** Marks the `apply` function or class of a plugin: once it is part of a composition, nothing that asks for it may go on while it is
 *  not active. */
// oxlint-disable-next-line typescript/no-explicit-any
export function required<F extends (...args: any[]) => unknown>(apply: F): F {
  return Object.defineProperty(apply, mark, {})
}

function isRequired(callback: unknown): boolean {
  return typeof callback === 'function' && mark in callback
}

const none: readonly string[] = []
/** `FiberState.ACTIVE`; the enum is erased, the pin test holds the number. */
const ACTIVE: number = 2

/** Remembers every required plugin that was mounted while the plugin of `ctx` was: one that was unloaded counts as missing, so that
 *  taking one away never permits anything. */
export class RequiredPlugins {
  private readonly known = new Map<string, { readonly fibers: Set<Fiber>; most: number }>()

  constructor(ctx: Context) {
    for (const runtime of ctx.registry.values()) for (const fiber of runtime.fibers) this.see(fiber)
    ctx.on('internal/plugin', (fiber) => this.see(fiber))
  }

  private see(fiber: Fiber): void {
    if (!fiber.runtime || !isRequired(fiber.runtime.callback)) return
    const plugin = this.known.get(fiber.name) ?? { fibers: new Set(), most: 0 }
    this.known.set(fiber.name, plugin)
    if (fiber.uid === null) plugin.fibers.delete(fiber)
    else plugin.fibers.add(fiber)
    plugin.most = Math.max(plugin.most, plugin.fibers.size)
  }

  names(): readonly string[] {
    return [...this.known.keys()].sort()
  }

  /** Names of plugins that have fewer instances than they had, or one that is not active. */
  missing(): readonly string[] {
    let missing: string[] | undefined
    for (const [name, { fibers, most }] of this.known) {
      let active = fibers.size === most
      for (const fiber of fibers) if (fiber.state !== ACTIVE) active = false
      if (!active) (missing ??= []).push(name)
    }
    return missing ?? none
  }
}
