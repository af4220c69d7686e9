/** Owns the World port: what the outside looks like. `adapter/world-node` is the real one, `dev/testkit` the simulated one. */
import type {} from 'cordis'

export interface World {
  readonly clock: Clock
  readonly random: RandomSource
  readonly disk: Disk
  readonly processes: Processes
  readonly network: Network
  readonly host: HostInfo
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds of a clock that never goes back; only differences mean something. */
  monotonic(): number
  /** Runs `fire` once after at least `ms`; the returned function cancels it. Delays above 2^31-1 are clamped. */
  timer(ms: number, fire: () => void): () => void
}

export interface RandomSource {
  bytes(length: number): Uint8Array
  /** In [0, 1). */
  float(): number
}

export interface HostInfo {
  readonly platform: string
  readonly hostname: string
  readonly pid: number
  readonly homeDir: string
  readonly tempDir: string
  /** A copy of the environment of the host process. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** File mode bits that new files lose. */
  readonly umask: number
}

export type FileKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device'

export interface FileStat {
  readonly kind: FileKind
  readonly size: number
  /** Permission bits only (0o7777). */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly dev: bigint
  readonly ino: bigint
  readonly links: number
  readonly mtimeMs: number
  readonly ctimeMs: number
}

export interface OpenOptions {
  readonly read?: boolean
  readonly write?: boolean
  /** Create when absent. */
  readonly create?: boolean
  /** With `create`: fail with EEXIST when present. */
  readonly exclusive?: boolean
  readonly truncate?: boolean
  /** Refuse a symlink at the last component (ELOOP). */
  readonly noFollow?: boolean
  /** Never wait for a peer (a FIFO without writer opens or fails at once). */
  readonly nonBlocking?: boolean
  /** For a file that is created; the umask applies. Default 0o666. */
  readonly mode?: number
}

/** An open file. Offsets and lengths in bytes. Failures reject with a `DiskError`. */
export interface DiskFile {
  stat(): Promise<FileStat>
  /** Real path of the open file as the platform tells it, whatever its name was when it was opened; absent or `undefined`
   *  where the platform cannot tell. */
  realPath?(): Promise<string | undefined>
  /** Reads up to `into.length` bytes at `position`; resolves to the number read, 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>
  /** Writes all of `bytes` at `position`, or rejects. A rejected write may have written a part. */
  write(bytes: Uint8Array, position: number): Promise<void>
  truncate(size: number): Promise<void>
  chmod(mode: number): Promise<void>
  chown(uid: number, gid: number): Promise<void>
  /** fdatasync: content and size are on disk. */
  datasync(): Promise<void>
  /** fsync: content and all metadata are on disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** Paths are absolute. Failures reject with a `DiskError`. */
export interface Disk {
  open(path: string, options: OpenOptions): Promise<DiskFile>
  stat(path: string): Promise<FileStat>
  lstat(path: string): Promise<FileStat>
  /** `mtimeMs` of many, in their order, as `lstat` tells it; `undefined` where it fails. Cheaper than asking one by one. */
  mtimes(paths: readonly string[]): Promise<readonly (number | undefined)[]>
  realpath(path: string): Promise<string>
  readlink(path: string): Promise<string>
  /** Names, unsorted, without `.` and `..`. */
  readdir(path: string): Promise<{ readonly name: string; readonly kind: FileKind }[]>
  mkdir(path: string, options?: { readonly recursive?: boolean; readonly mode?: number }): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A hard link; rejects with EEXIST when `to` exists. */
  link(from: string, to: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  unlink(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  /** fsync of a directory: names created, renamed or removed in it are on disk. */
  syncDir(path: string): Promise<void>
}

/** A failure of the disk. `code` is the POSIX name (`ENOENT`, `ENOSPC`, …); `path` the path as given, where there is one. */
export class DiskError extends Error {
  override readonly name = 'DiskError'
  readonly code: string
  readonly path: string | undefined
  constructor(code: string, message: string, path?: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.path = path
  }
}

export function isDiskError(error: unknown, code?: string): error is DiskError {
  if (!(error instanceof Error) || error.name !== 'DiskError') return false
  return code === undefined || (error as DiskError).code === code
}

export interface SpawnOptions {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  /** The whole environment of the child, but for a variable that tells its {@link owner}; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Written to stdin, then closed. Without it stdin is empty. A child that does not read it is no error. */
  readonly stdin?: Uint8Array
  /** Called with each piece in order; the array is not reused. */
  readonly onStdout?: (bytes: Uint8Array) => void
  readonly onStderr?: (bytes: Uint8Array) => void
  /** Called with what is written to descriptor 3, which the child has with this alone. */
  readonly onReport?: (bytes: Uint8Array) => void
  readonly crowd?: Crowd
  /** For whom the process works; {@link Processes.endOrphans} finds it by this name after this host has died. */
  readonly owner?: string
}

/** Told once, soon after more than `processesMax` processes of the child live; never where the platform does not show them. */
export interface Crowd {
  readonly processesMax: number
  readonly onCrowd: () => void
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A child in a process group of its own. Where it has an owner and the platform can tell, what has left the group counts as of it. */
export interface Child {
  readonly pid: number
  /** Start time of the process as the platform tells it; with `pid` it names the process for ever. */
  readonly startedAt: string | undefined
  /** Resolves when the process itself has exited, whoever still holds its pipes. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Resolves when both output pipes have ended (after `exited` at the earliest when a descendant holds them). Never rejects. */
  readonly closed: Promise<void>
  /** Signals every process of the group; a group that is gone is no error. */
  killGroup(signal: 'SIGTERM' | 'SIGKILL' | 'SIGINT'): void
  /** True while any process of the group lives. */
  groupAlive(): boolean
  /** Nothing more is told of the output, which is read and thrown away; `closed` resolves. The host may end meanwhile. */
  detachOutput(): void
}

export interface Processes {
  /** Rejects with a `DiskError` (`ENOENT`, `EACCES`, …) when the program cannot be started. */
  spawn(options: SpawnOptions): Promise<Child>
  /** True while a process with this pid (and start time, where given) lives on this host. */
  isAlive(pid: number, startedAt?: string): boolean
  /** Start time of a live process as the platform tells it, `undefined` where it cannot. */
  startTimeOf(pid: number): string | undefined
  /** Signals a process group by its leader; one that is gone is no error. */
  killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void
  /** Kills the processes that hosts which have died started for `owner`, with all that these started. Resolves when they
   *  are gone, to how many there were; to 0 where the platform cannot tell. */
  endOrphans(owner: string): Promise<number>
}

export interface Network {
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
}

declare module 'cordis' {
  interface Context {
    /** Provided by `adapter/world-node`, or by the testkit in tests. */
    world: World
  }
}
