/** Owns one child process in a group of its own. */
import { type ChildProcess, type IOType, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type Child, type Crowd, DiskError, type ProcessExit, type SpawnOptions } from '@sluice/base'
import { diskErrorOf, withDiskErrors } from './disk-errors.ts'
import { Members } from './members.ts'
import { startTimeOf } from './proc.ts'

/** Between two looks at how many processes there are. */
const CROWD_LOOK_MS = 100

/** Resolves when the program runs; what carries the mark counts as of it. Rejects with a `DiskError` that names what is missing: the program or the folder. */
export async function startChild(options: SpawnOptions, mark: string | undefined): Promise<Child> {
  const { file, args, cwd, env, stdin, onStdout, onStderr, onReport } = options
  const pipeFor = (wanted: unknown): IOType => (wanted ? 'pipe' : 'ignore')
  try {
    const stdio = [pipeFor(stdin), pipeFor(onStdout), pipeFor(onStderr), ...(onReport ? ['pipe' as const] : [])]
    const running: ChildProcess = spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio })
    listen(running, options)
    await once(running, 'spawn')
    const members = new Members(running.pid as number, mark)
    if (options.crowd) watchCrowd(running, members, options.crowd)
    return childOf(running, members)
  } catch (error) {
    await assertFolder(cwd)
    throw diskErrorOf(error, file)
  }
}

/** Node blames the program for a folder that is not there. */
async function assertFolder(cwd: string): Promise<void> {
  const found = await withDiskErrors(cwd, () => stat(cwd))
  if (!found.isDirectory()) throw new DiskError('ENOTDIR', `ENOTDIR: working folder '${cwd}'`, cwd)
}

/** Done before the program runs, so that nothing it prints is missed. */
function listen(running: ChildProcess, { stdin, onStdout, onStderr, onReport }: SpawnOptions): void {
  if (onStdout) running.stdout?.on('data', onStdout)
  if (onStderr) running.stderr?.on('data', onStderr)
  if (onReport) (running.stdio[3] as Readable).on('data', onReport)
  // A signal that could not be sent; killGroup reports its own.
  running.on('error', () => {})
  // EPIPE: the program ended, or closed its input, without reading it.
  running.stdin?.on('error', () => {})
  if (stdin) running.stdin?.end(stdin)
}

function childOf(running: ChildProcess, members: Members): Child {
  const pid = running.pid as number
  const startedAt = startTimeOf(pid)
  let release!: () => void
  const detached = new Promise<void>((resolve) => {
    release = resolve
  })
  const exited = new Promise<ProcessExit>((resolve) => {
    running.once('exit', (code, signal) => {
      members.groupAlive()
      resolve({ code, signal })
    })
  })
  const closed = new Promise<void>((resolve) => running.once('close', () => resolve()))
  return {
    pid,
    startedAt,
    exited,
    closed: Promise.race([closed, detached]),
    killGroup: (signal) => members.signal(signal),
    groupAlive: () => members.alive(),
    detachOutput() {
      for (const pipe of [running.stdout, running.stderr]) if (pipe) discard(pipe)
      unref(running.stdio[3])
      release()
    },
  }
}

/** Until the program has exited; who started it looks after the rest. */
function watchCrowd(running: ChildProcess, members: Members, { processesMax, onCrowd }: Crowd): void {
  const end = () => clearInterval(looks)
  const looks = setInterval(() => {
    if (!members.exceed(processesMax)) return
    end()
    onCrowd()
  }, CROWD_LOOK_MS).unref()
  running.once('exit', end)
}

/** Reads on without telling anybody: closing the pipe would kill a background process at its next line. */
function discard(pipe: Readable): void {
  pipe.removeAllListeners('data')
  pipe.resume()
  unref(pipe)
}

/** An open pipe keeps the host from ending otherwise. */
function unref(pipe: unknown): void {
  ;(pipe as { unref?(): void } | undefined)?.unref?.()
}
