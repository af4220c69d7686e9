/** Owns the line with which a run names its session, such that the other commands find it. */
import { join } from 'node:path'
import type { HostInfo } from '@sluice/base'
import type { CompositionEntry } from '@sluice/compose'
import { defaultRoot } from '@sluice/store-jsonl'
import { logFolders } from './granting-files.ts'
import { printableLine } from './printable.ts'

export function sessionLine(id: string, entries: readonly CompositionEntry[], host: HostInfo): string {
  const [folder] = logFolders(entries, host)
  if (folder === defaultRoot(host)) return `session ${id}\n`
  if (folder === undefined) return `session ${id}, kept by a store that \`sluice session\` does not read\n`
  return `session ${id}, kept in ${printableLine(join(folder, id), 1000)}\n`
}
