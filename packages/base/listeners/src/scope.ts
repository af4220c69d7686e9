/** Owns scopes: a registration may be narrowed to a path such as `main/reviewer`, and then counts there and below. */
import type { Context } from 'cordis'

const scopeKey = Symbol.for('sluice.agent-scope')

/** A context on which a plugin registers for `scope` and what is below it only. The registration belongs to the plugin of
 *  `ctx`, so it goes when that plugin goes. */
export function narrowTo(ctx: Context, scope: string): Context {
  return ctx.extend({ [scopeKey]: scope })
}

export function scopeOf(ctx: Context): string | undefined {
  return (ctx as Context & { [scopeKey]?: string })[scopeKey]
}

/** True when something narrowed to `scope` counts at `place`. */
export function counts(scope: string | undefined, place: string | undefined): boolean {
  if (scope === undefined) return true
  if (place === undefined) return false
  return place === scope || place.startsWith(`${scope}/`)
}

/** How near a scope is to a place: 0 is global, the place itself is the greatest. */
export function depth(scope: string | undefined): number {
  return scope === undefined ? 0 : scope.split('/').length
}
