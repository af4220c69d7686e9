/** Owns a World that refuses every effect: what is seen cannot depend on the machine, and looking changes nothing. */
import { type Disk, DiskError, type World } from '@sluice/base'

const REFUSAL = 'this World refuses effects'

function refuse(path?: string): Promise<never> {
  return Promise.reject(new DiskError('EROFS', REFUSAL, path))
}

const disk: Disk = {
  open: refuse,
  stat: refuse,
  lstat: refuse,
  mtimes: () => refuse(),
  realpath: refuse,
  readlink: refuse,
  readdir: refuse,
  mkdir: refuse,
  rename: refuse,
  link: refuse,
  symlink: refuse,
  unlink: refuse,
  rmdir: refuse,
  syncDir: refuse,
}

/** Time stands still, timers never fire, randomness is all zero, nothing can be read, written, started or fetched. */
export function refusingWorld(): World {
  return {
    clock: { now: () => 0, monotonic: () => 0, timer: () => () => {} },
    random: { bytes: (length) => new Uint8Array(length), float: () => 0 },
    disk,
    processes: {
      spawn: (options) => Promise.reject(new DiskError('EPERM', REFUSAL, options.file)),
      isAlive: () => false,
      startTimeOf: () => undefined,
      killGroup: () => {},
      endOrphans: () => Promise.resolve(0),
    },
    network: { fetch: () => Promise.reject(new TypeError(REFUSAL)) },
    host: {
      platform: 'linux',
      hostname: 'graph',
      pid: 1,
      homeDir: '/home/user',
      tempDir: '/tmp',
      env: {},
      umask: 0o022,
    },
  }
}
