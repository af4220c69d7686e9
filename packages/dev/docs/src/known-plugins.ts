/** Owns naming plugins on pages: as they call themselves, with the entry that brought them, without anything that varies. */
import { type MountedPlugin, mounted } from '@sluice/compose'
import type { Booted } from './boot.ts'

export interface KnownPlugin extends MountedPlugin {
  /** What the composition file calls the entry that mounted it, or that mounted the plugin that did. */
  readonly from: string | undefined
}

/** Plugins of the composition, sorted; what mounts them is no part of it. */
export class Plugins {
  readonly all: readonly KnownPlugin[]

  constructor(booted: Booted) {
    const plugins = mounted(booted.ctx)
    const byUid = new Map(plugins.map((plugin) => [plugin.uid, plugin]))
    const names = new Map(booted.entries.map((entry) => [entry.id, entry.name]))
    const from = (plugin: MountedPlugin | undefined): string | undefined => {
      if (plugin === undefined) return undefined
      return plugin.entry === undefined ? from(byUid.get(plugin.parent)) : names.get(plugin.entry)
    }
    const known = plugins.map((plugin) => ({ ...plugin, from: from(plugin) }))
    this.all = known
      .filter((plugin) => plugin.from !== undefined)
      .sort((a, b) => compare(a.name, b.name) || compare(a.from ?? '', b.from ?? '') || a.uid - b.uid)
  }

  /** `label` is `name#uid`, as the registry shows an owner. */
  byLabel(label: string): KnownPlugin | undefined {
    const uid = Number(label.slice(label.lastIndexOf('#') + 1))
    return this.all.find((plugin) => plugin.uid === uid)
  }

  /** `name`, from an owner of the form `name#uid`. */
  nameOf(label: string): string {
    return label.replace(/#(\d+|gone)$/, '')
  }

  /** What the composition file calls the entry that brought an owner, where that says more than its name. */
  sourceOf(label: string): string | undefined {
    const from = this.byLabel(label)?.from
    return from === this.nameOf(label) ? undefined : from
  }
}

/** Order of code units: the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
