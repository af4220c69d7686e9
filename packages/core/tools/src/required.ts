/** Owns policies that declare themselves required: no call runs while one of them is not active. */
import type { Context, Fiber } from 'cordis'
import { toolsErrors } from './errors.ts'
import type { AdmittedCall } from './state.ts'

const mark = Symbol.for('sluice.required')

/** Marks the `apply` function or class of a plugin: once it is part of a composition, calls are denied while it is not active. */
// oxlint-disable-next-line typescript/no-explicit-any
export function required<F extends (...args: any[]) => unknown>(apply: F): F {
  return Object.defineProperty(apply, mark, { value: true })
}

function isRequired(callback: unknown): boolean {
  return typeof callback === 'function' && mark in callback
}

const none: readonly string[] = Object.freeze([])
/** `FiberState.ACTIVE`; the enum is erased, the pin test holds the number. */
const ACTIVE: number = 2

/** Remembers every required policy that was mounted while the service was: one that was unloaded counts as missing, so that
 *  taking a policy away never permits anything. Mounting the tools plugin again starts a new memory. */
export class RequiredPolicies {
  private readonly known = new Map<string, { readonly fibers: Set<Fiber>; most: number }>()

  constructor(ctx: Context) {
    for (const runtime of ctx.registry.values()) for (const fiber of runtime.fibers) this.see(fiber)
    ctx.on('internal/plugin', (fiber) => this.see(fiber))
  }

  private see(fiber: Fiber): void {
    if (!fiber.runtime || !isRequired(fiber.runtime.callback)) return
    const policy = this.known.get(fiber.name) ?? { fibers: new Set(), most: 0 }
    this.known.set(fiber.name, policy)
    if (fiber.uid === null) policy.fibers.delete(fiber)
    else policy.fibers.add(fiber)
    policy.most = Math.max(policy.most, policy.fibers.size)
  }

  names(): readonly string[] {
    return [...this.known.keys()].sort()
  }

  /** Names of policies that have fewer instances than they had, or one that is not active. */
  missing(): readonly string[] {
    if (this.known.size === 0) return none
    let missing: string[] | undefined
    for (const [name, { fibers, most }] of this.known) {
      let active = fibers.size === most
      for (const fiber of fibers) if (fiber.state !== ACTIVE) active = false
      if (!active) (missing ??= []).push(name)
    }
    return missing ?? none
  }
}

/** Denies the call while a required policy is not active. */
export function policyMissing(state: AdmittedCall): boolean {
  const policies = state.machine.policies.missing()
  if (policies.length === 0) return false
  const { code, message: reason, remedy } = toolsErrors('TOOLS_POLICY_MISSING', { policies })
  state.deny(policies.join(', '), { reason, code, remedy })
  return true
}
