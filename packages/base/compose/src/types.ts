/** Owns the words of a composition: its entries, what is mounted of it, and what is wrong with it. */
import type { JsonObject } from '@sluice/base'

/** One plugin of a composition file. */
export interface CompositionEntry {
  /** Names the entry in messages and adjustments; unique in its file. */
  readonly id: string
  /** A package name, or a path that starts with `./`, `../` or `/`; relative to the composition file. */
  readonly name: string
  readonly config: JsonObject | undefined
  readonly disabled: boolean
  /** Line in the file, from 1; 0 for an entry that a host has added. */
  readonly line: number
}

export interface Composition {
  /** Absolute path. */
  readonly file: string
  readonly entries: readonly CompositionEntry[]
}

/** Loads the module that an entry names. `file` is the composition file. */
export type Importer = (name: string, file: string) => Promise<unknown>

export type PluginState = 'pending' | 'loading' | 'active' | 'failed' | 'disposed' | 'unloading'

/** A plugin as it is mounted now. */
export interface MountedPlugin {
  /** As the plugin calls itself; empty for a part of another plugin that has no name of its own. */
  readonly name: string
  readonly uid: number
  /** The entry that mounted it; absent for one mounted by code. */
  readonly entry: string | undefined
  /** Uid of the plugin that mounted it; 0 is the root. */
  readonly parent: number
  readonly state: PluginState
  readonly config: unknown
  readonly injects: readonly string[]
  readonly provides: readonly string[]
  /** Events that it listens to, sorted; one item per listener. */
  readonly listens: readonly string[]
  /** Labels of all that it has registered, sorted, such as `ctx.on("…")` or `ctx.provide("…")`. */
  readonly effects: readonly string[]
}

export interface FailedPlugin {
  readonly plugin: string
  /** Line of its entry, where there is one. */
  readonly line: number | undefined
  readonly problem: string
  /** Plugins that wait for a service of this one, directly or through others. */
  readonly dependents: readonly string[]
}

export interface MissingService {
  readonly service: string
  /** Plugins of the composition that declare it, and why it is not there. */
  readonly providers: readonly { readonly plugin: string; readonly why: PluginState }[]
}

export interface PendingPlugin {
  readonly plugin: string
  readonly missing: readonly MissingService[]
}

/** What keeps a composition from being ready. All lists are sorted. */
export interface Diagnosis {
  readonly failed: readonly FailedPlugin[]
  readonly pending: readonly PendingPlugin[]
  /** Plugins that still load or unload. */
  readonly unsettled: readonly string[]
  /** Plugins that wait for each other; the first is repeated at the end. */
  readonly cycles: readonly (readonly string[])[]
}
