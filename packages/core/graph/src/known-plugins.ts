/** Owns naming plugins: as they call themselves, with the entry that brought them, without anything that varies. */
import { type MountedPlugin, mounted } from '@sluice/compose'
import type { Booted } from './boot.ts'

export interface KnownPlugin extends MountedPlugin {
  /** What the composition file calls the entry that mounted it, or that mounted the plugin that did. */
  readonly from: string | undefined
  /** Services that nameless parts of it wait for: it works without them. */
  readonly mayUse: readonly string[]
}

const union = (lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort(compare)

/** Plugins of the composition, sorted; what mounts them is no part of it, nameless parts belong to their plugin. */
export class Plugins {
  readonly all: readonly KnownPlugin[]
  private readonly byUid: ReadonlyMap<number, MountedPlugin>
  private readonly names: ReadonlyMap<string, string>

  constructor(booted: Booted) {
    const plugins = mounted(booted.ctx)
    this.byUid = new Map(plugins.map((plugin) => [plugin.uid, plugin]))
    this.names = new Map(booted.entries.map((entry) => [entry.id, entry.name]))
    const parts = plugins.filter((plugin) => plugin.name === '')
    this.all = plugins
      .filter((plugin) => plugin.name !== '' && this.entryOf(plugin) !== undefined)
      .map((plugin) => this.withParts(plugin, parts))
      .sort((a, b) => compare(a.name, b.name) || compare(a.from ?? '', b.from ?? '') || a.uid - b.uid)
  }

  private withParts(plugin: MountedPlugin, parts: readonly MountedPlugin[]): KnownPlugin {
    const own = parts.filter((part) => this.namedOwner(part) === plugin)
    const all = [plugin, ...own]
    return {
      ...plugin,
      from: this.entryOf(plugin),
      provides: union(all.map(({ provides }) => provides)),
      listens: union(all.map(({ listens }) => listens)),
      effects: union(all.map(({ effects }) => effects)),
      mayUse: union(own.map(({ injects }) => injects)).filter((name) => !plugin.injects.includes(name)),
    }
  }

  private namedOwner(plugin: MountedPlugin | undefined): MountedPlugin | undefined {
    return plugin === undefined || plugin.name !== '' ? plugin : this.namedOwner(this.byUid.get(plugin.parent))
  }

  private entryOf(plugin: MountedPlugin | undefined): string | undefined {
    if (plugin === undefined) return undefined
    return plugin.entry === undefined ? this.entryOf(this.byUid.get(plugin.parent)) : this.names.get(plugin.entry)
  }

  /** `name`, from an owner of the form `name#uid`. */
  nameOf(label: string): string {
    return label.replace(/#(\d+|gone)$/, '')
  }

  /** What the composition file calls the entry that brought an owner, where that says more than its name. */
  sourceOf(label: string): string | undefined {
    const from = this.entryOf(this.byUid.get(Number(label.slice(label.lastIndexOf('#') + 1))))
    return from === this.nameOf(label) ? undefined : from
  }
}

/** Order of code units: the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
