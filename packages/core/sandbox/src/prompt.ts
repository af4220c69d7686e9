/** Owns every string of this package that a model reads. */
import type { ConfinedMode } from './types.ts'

export const noneReason = (why: string) => `no sandbox confines the process: ${why}`
export const refusedReason = (why: string) => `Without a sandbox nothing is started here: ${why}.`
export const unconfinedReason = 'it wants to run outside of the sandbox, with all files and the whole network'
export const hostsReason = (hosts: readonly string[]) => `it wants to reach ${hosts.join(', ')} over the network`
export const notAgreedText = (reason: string) => `The process was not started: ${reason}, and no person agreed to that.`

const modeTexts: Readonly<Record<ConfinedMode, string>> = {
  'read-only': 'files are read-only but for those in a /tmp of its own',
  'workspace-write':
    'only the workspace (the working folder, unless more is configured) and a /tmp of its own are writable, without the files that decide what may be done here',
}

/** What the tools that start processes tell a model about its sandbox. */
export function confinementText(mode: ConfinedMode, hosts: readonly string[]): string {
  const network = hosts.length === 0 ? 'no network can be reached' : `of the network only ${hosts.join(', ')}`
  return `${modeTexts[mode]}; ${network}`
}

export const sectionText = (limits: string) =>
  `Programs that tools start run in a sandbox: ${limits}. A call that needs more asks a person for it by its arguments hosts and unconfined.`
