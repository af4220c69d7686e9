/** Owns policies that declare themselves required: no call runs while one of them is not active. */
import type { Context, Fiber } from 'cordis'

const mark = Symbol.for('sluice.required')

/** Marks the `apply` function or class of a plugin: once it is part of a composition, calls are denied while it is not active. */
// oxlint-disable-next-line typescript/no-explicit-any
export function required<F extends (...args: any[]) => unknown>(apply: F): F {
  return Object.defineProperty(apply, mark, { value: true })
}

function isRequired(callback: unknown): boolean {
  return typeof callback === 'function' && mark in callback
}

/** `FiberState.ACTIVE`; the enum is erased, the pin test holds the number. */
const ACTIVE: number = 2

/** Remembers every required policy that was mounted while the service was: one that was unloaded counts as missing, so that
 *  taking a policy away never permits anything. Mounting the tools plugin again starts a new memory. */
export class RequiredPolicies {
  private readonly known = new Map<string, Set<Fiber>>()

  constructor(ctx: Context) {
    for (const runtime of ctx.registry.values()) for (const fiber of runtime.fibers) this.see(fiber)
    ctx.on('internal/plugin', (fiber) => this.see(fiber))
  }

  private see(fiber: Fiber): void {
    if (!fiber.runtime || !isRequired(fiber.runtime.callback)) return
    const fibers = this.known.get(fiber.name) ?? new Set()
    this.known.set(fiber.name, fibers)
    if (fiber.uid === null) fibers.delete(fiber)
    else fibers.add(fiber)
  }

  names(): readonly string[] {
    return [...this.known.keys()].sort()
  }

  /** Names of policies without an active instance, or with one that is not active. */
  missing(): readonly string[] {
    if (this.known.size === 0) return none
    let missing: string[] | undefined
    for (const [name, fibers] of this.known) {
      let active = fibers.size > 0
      for (const fiber of fibers) if (fiber.state !== ACTIVE) active = false
      if (!active) (missing ??= []).push(name)
    }
    return missing ?? none
  }
}

const none: readonly string[] = Object.freeze([])
