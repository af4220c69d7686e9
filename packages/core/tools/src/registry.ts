/** Owns which tools and guards are mounted, and which of them an agent sees. */
import { editDistance } from '@sluice/base'
import type { Fiber } from 'cordis'
import { counts, depth, pluginLabel } from '@sluice/listeners'
import { makeRegistered, type Registered, type ToolDefinition } from './definition.ts'
import { toolsErrors } from './errors.ts'
import type { Guard } from './guards.ts'
import type { Reach, Restriction, ToolFilter } from './types.ts'

export interface MountedGuard {
  readonly name: string
  readonly plugin: string
  /** Plugin and name. */
  readonly label: string
  readonly scope: string | undefined
  readonly check: Guard
  gone: boolean
}

interface Rule {
  readonly agent: string
  readonly allow: ReadonlySet<string> | undefined
  readonly deny: ReadonlySet<string>
}

/** How many nearest names an unknown tool is answered with. */
const NEAREST_MAX = 3

export class Registry {
  private readonly tools = new Set<Registered>()
  private readonly restrictions = new Set<Rule>()
  private readonly filters = new Set<ToolFilter>()
  private guardList: readonly MountedGuard[] = []
  private readonly views = new Map<string, ReadonlyMap<string, Registered>>()

  /** @throws TOOLS_NAME_TAKEN, TOOLS_NAME_INVALID, TOOLS_SCHEMA_INVALID */
  add(definition: ToolDefinition, fiber: Fiber, scope: string | undefined): () => void {
    const entry = makeRegistered(definition, fiber, scope)
    for (const other of this.tools)
      if (other.info.name === entry.info.name && other.scope === scope)
        throw toolsErrors('TOOLS_NAME_TAKEN', { name: entry.info.name, plugin: other.plugin })
    const remove = this.put(entry, this.tools)
    return () => {
      entry.gone = true
      remove()
    }
  }

  addGuard(name: string, check: Guard, fiber: Fiber, scope: string | undefined): () => void {
    const plugin = pluginLabel(fiber)
    const guard: MountedGuard = { name, check, plugin, label: `${plugin} (guard ${name})`, scope, gone: false }
    this.guardList = [...this.guardList, guard].sort((a, b) => depth(a.scope) - depth(b.scope))
    return () => {
      guard.gone = true
      this.guardList = this.guardList.filter((other) => other !== guard)
    }
  }

  addRestriction(agent: string, { allow, deny = [] }: Restriction): () => void {
    return this.put({ agent, allow: allow && new Set(allow), deny: new Set(deny) }, this.restrictions)
  }

  addFilter(filter: ToolFilter): () => void {
    return this.put(filter, this.filters)
  }

  private put<T>(one: T, among: Set<T>): () => void {
    among.add(one)
    this.views.clear()
    return () => {
      among.delete(one)
      this.views.clear()
    }
  }

  /** Global guards first, then from the farthest scope to the agent's own. */
  guards(agent: string | undefined): readonly MountedGuard[] {
    return this.guardList.filter((guard) => counts(guard.scope, agent))
  }

  allGuards(): readonly MountedGuard[] {
    return this.guardList
  }

  /** By name, sorted: a nearer definition shadows a farther one, a restriction filters what is inherited. */
  view(agent: string | undefined, reach: Reach = 'direct'): ReadonlyMap<string, Registered> {
    const key = `${reach} ${agent ?? ''}`
    const known = this.views.get(key)
    if (known) return known
    const scopes: (string | undefined)[] = [undefined]
    if (agent !== undefined) {
      const parts = agent.split('/')
      for (let i = 1; i <= parts.length; i++) scopes.push(parts.slice(0, i).join('/'))
    }
    let seen = new Map<string, Registered>()
    for (const scope of scopes) {
      for (const rule of this.restrictions)
        if (rule.agent === scope)
          seen = new Map([...seen].filter(([name]) => (rule.allow?.has(name) ?? true) && !rule.deny.has(name)))
      for (const entry of this.tools) if (entry.scope === scope) seen.set(entry.info.name, entry)
    }
    for (const filter of this.filters) seen = new Map([...seen].filter(([name]) => filter(name, agent, reach)))
    if (reach === 'nested') seen = new Map([...seen].filter(([, entry]) => entry.definition.nested !== false))
    const sorted = new Map([...seen].sort(([a], [b]) => (a < b ? -1 : 1)))
    this.views.set(key, sorted)
    return sorted
  }

  /** Names like `wanted`, nearest first, then sorted; an alias counts as a name. */
  nearest(wanted: string, agent: string | undefined, reach: Reach): string[] {
    const low = wanted.toLowerCase().slice(0, 64)
    const scored: { name: string; distance: number }[] = []
    for (const { info } of this.view(agent, reach).values()) {
      const names = [info.name, ...info.aliases].map((name) => editDistance(low, name.toLowerCase()))
      scored.push({ name: info.name, distance: Math.min(...names) })
    }
    return scored
      .filter(({ name, distance: d }) => d <= Math.max(2, Math.floor(name.length / 2)))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, NEAREST_MAX)
      .map(({ name }) => name)
  }
}
