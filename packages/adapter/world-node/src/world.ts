/** Owns the real World: what Node gives, behind the World port. */
import { homedir, hostname, tmpdir } from 'node:os'
import type { HostInfo, World } from '@sluice/base'
import { nodeClock } from './clock.ts'
import { nodeDisk } from './disk.ts'
import { nodeProcesses } from './processes.ts'
import { nodeRandom } from './random.ts'

export interface NodeWorld extends World {
  /** Kills every child that still lives. */
  dispose(): void
}

function hostInfo(): HostInfo {
  return {
    platform: process.platform,
    hostname: hostname(),
    pid: process.pid,
    homeDir: homedir(),
    tempDir: tmpdir(),
    env: { ...process.env },
    umask: process.umask(),
  }
}

export function nodeWorld(): NodeWorld {
  const processes = nodeProcesses()
  return {
    clock: nodeClock(),
    random: nodeRandom(),
    disk: nodeDisk(),
    processes,
    network: { fetch: (input, init) => fetch(input, init) },
    host: hostInfo(),
    dispose: () => processes.dispose(),
  }
}
