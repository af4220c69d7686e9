/** Owns what the cases of the contract share: an adapter with its surroundings, and starting programs in them. */
import { posix } from 'node:path'
import { type Child, type ProcessExit, sleep, type SpawnOptions, type World } from '@sluice/base'
import type { Confinement, SandboxAdapter } from './types.ts'

/** An adapter and what surrounds it; made fresh for each case. */
export interface SandboxSubject {
  readonly adapter: SandboxAdapter
  readonly world: World
  /** A new empty folder outside of those for temporary files. */
  readonly folder: string
  /** A server for HTTP on the loopback of the host, and the paths that it was asked for. */
  readonly peer: { readonly port: number; readonly asked: readonly string[] }
  /** A value in the environment of the host. */
  readonly secret: string
  /** A command line that starts its last argument with `bash -c` confined to `folder`, as a host of its own, and waits for it. */
  readonly host: readonly string[]
}

/** One case, as contract runners take it. */
export interface SandboxCase {
  readonly title: string
  run(subject: SandboxSubject): Promise<void>
}

interface Ended extends ProcessExit {
  readonly out: string
  readonly err: string
}

export const PATH = '/usr/local/bin:/usr/bin:/bin'
export const inside = (subject: SandboxSubject) => posix.join(subject.folder, 'workspace')

/** May write below `folder`; nothing else is said. */
export function confinedTo(folder: string, more: Partial<Confinement> = {}): Confinement {
  return {
    workspace: [folder],
    access: 'write',
    readOnly: [],
    protected: [],
    standIns: new Map<string, string>(),
    hidden: [],
    hosts: [],
    scratch: 'one',
    ...more,
  }
}

export function confined(subject: SandboxSubject, more: Partial<Confinement> = {}): Confinement {
  return confinedTo(inside(subject), more)
}

export function bash(subject: SandboxSubject, command: string, more: Partial<SpawnOptions> = {}): SpawnOptions {
  return { file: 'bash', args: ['-c', command], cwd: inside(subject), env: { PATH }, ...more }
}

export async function ended(start: (options: SpawnOptions) => Promise<Child>, options: SpawnOptions): Promise<Ended> {
  let [out, err] = ['', '']
  const decoder = new TextDecoder()
  const child = await start({
    ...options,
    onStdout: (bytes) => void (out += decoder.decode(bytes)),
    onStderr: (bytes) => void (err += decoder.decode(bytes)),
  })
  await child.closed
  return { ...(await child.exited), out, err }
}

/** Runs a command in bash, confined, in a workspace that is there. */
export async function run(subject: SandboxSubject, command: string, more: Partial<Confinement> = {}): Promise<Ended> {
  await subject.world.disk.mkdir(inside(subject), { recursive: true })
  return ended((options) => subject.adapter.spawn(options, confined(subject, more)), bash(subject, command))
}

/** Runs a command in bash as the host may. */
export function unconfined(subject: SandboxSubject, command: string): Promise<Ended> {
  return ended((options) => subject.world.processes.spawn(options), bash(subject, command, { cwd: subject.folder }))
}

/** How a case sees that everything is gone: a pipe whose reader ends with its last writer. */
export async function pipe(subject: SandboxSubject): Promise<{ ready: Promise<void>; gone: Promise<unknown> }> {
  await unconfined(subject, 'mkdir -p workspace; mkfifo workspace/pipe')
  let ready!: () => void
  const opened = new Promise<void>((resolve) => {
    ready = resolve
  })
  const reader = await subject.world.processes.spawn({
    ...bash(subject, 'exec cat workspace/pipe', { cwd: subject.folder }),
    onStdout: ready,
  })
  return { ready: opened, gone: reader.exited }
}

/** What is killed is gone soon, not at once. */
export async function untilNot({ world }: SandboxSubject, condition: () => boolean): Promise<void> {
  while (condition()) await sleep(world.clock, 1)
}
