/** Owns which files decide what a run may do, told to the plugins that keep tools away from them. */
import { dirname, resolve } from 'node:path'
import type { HostInfo, Json, JsonObject } from '@sluice/base'
import type { CompositionEntry } from '@sluice/compose'
import { defaultRoot } from '@sluice/store-jsonl'

/** The entries with the folders of session logs, the composition itself, and the modules beside it that it names. */
export function withGrantingFiles(
  entries: readonly CompositionEntry[],
  file: string,
  host: HostInfo,
): readonly CompositionEntry[] {
  const mounted = entries.filter(({ disabled }) => !disabled)
  const logs = logFolders(mounted, host)
  const modules = mounted
    .filter(({ name }) => /^(\.{0,2}\/)/.test(name))
    .map(({ name }) => resolve(dirname(file), name))
  const granting = [file, ...modules]
  return entries.map((entry) => {
    const { name, config = {} } = entry
    if (name === '@sluice/workspace') {
      return { ...entry, config: added(added(config, 'protectedPaths', logs), 'authorityPaths', granting) }
    }
    // A process cannot be asked about: it only reads them.
    if (name === '@sluice/sandbox') return { ...entry, config: added(config, 'protectedPaths', [...logs, ...granting]) }
    return entry
  })
}

/** Folders in which entries that are mounted keep sessions. */
export function logFolders(entries: readonly CompositionEntry[], host: HostInfo): readonly string[] {
  return entries
    .filter(({ name, disabled }) => name === '@sluice/store-jsonl' && !disabled)
    .map(({ config }) => (typeof config?.dir === 'string' ? resolve(config.dir) : defaultRoot(host)))
}

/** What is there stays; a value that is no list is left for the plugin to refuse. */
function added(config: JsonObject, key: string, paths: readonly string[]): JsonObject {
  const before: Json = config[key] ?? []
  return Array.isArray(before) ? { ...config, [key]: [...new Set([...(before as Json[]), ...paths])] } : config
}
