/** Owns agent scopes: which registrations count for which agent. */
import type { Context } from 'cordis'

const scopeKey = Symbol.for('sluice.agent-scope')

/** A context on which a plugin registers for one agent and its children only. Agents are named by path: `main/reviewer` is a
 *  child of `main`. The registration belongs to the plugin of `ctx`, so it goes when that plugin goes. */
export function forAgent(ctx: Context, agent: string): Context {
  return ctx.extend({ [scopeKey]: agent })
}

export function scopeOf(ctx: Context): string | undefined {
  return (ctx as Context & { [scopeKey]?: string })[scopeKey]
}

/** True when something narrowed to `scope` counts for `agent`. */
export function counts(scope: string | undefined, agent: string | undefined): boolean {
  if (scope === undefined) return true
  if (agent === undefined) return false
  return agent === scope || agent.startsWith(`${scope}/`)
}

/** How near a scope is to an agent: 0 is global, the agent's own is the greatest. */
export function depth(scope: string | undefined): number {
  return scope === undefined ? 0 : scope.split('/').length
}
