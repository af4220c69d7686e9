/** Owns one child process in a group of its own. */
import { type ChildProcess, type IOType, spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type Child, type Crowd, DiskError, type ProcessExit, type SpawnOptions } from '@sluice/base'
import { diskErrorOf, withDiskErrors } from './disk-errors.ts'
import { groupExceeds, groupWatch, signalGroup, startTimeOf } from './proc.ts'

/** Between two looks at how many processes a group has. */
const CROWD_LOOK_MS = 100

/** Resolves when the program runs. Rejects with a `DiskError` that names what is missing: the program or the folder. */
export async function startChild(options: SpawnOptions): Promise<Child> {
  const { file, args, cwd, env, stdin, onStdout, onStderr, onReport } = options
  const pipeFor = (wanted: unknown): IOType => (wanted ? 'pipe' : 'ignore')
  try {
    const stdio = [pipeFor(stdin), pipeFor(onStdout), pipeFor(onStderr), ...(onReport ? ['pipe' as const] : [])]
    const running: ChildProcess = spawn(file, args, { cwd, env, detached: true, windowsHide: true, stdio })
    listen(running, options)
    await once(running, 'spawn')
    if (options.crowd) watchCrowd(running, options.crowd)
    return childOf(running, running.pid as number)
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

function childOf(running: ChildProcess, pid: number): Child {
  const startedAt = startTimeOf(pid)
  // Its pid may be given to a stranger once the group is gone, so that is remembered.
  let gone = false
  const groupAlive = groupWatch(pid)
  const isGroupAlive = (): boolean => {
    gone ||= !groupAlive()
    return !gone
  }
  let release!: () => void
  const detached = new Promise<void>((resolve) => {
    release = resolve
  })
  const exited = new Promise<ProcessExit>((resolve) => {
    running.once('exit', (code, signal) => {
      isGroupAlive()
      resolve({ code, signal })
    })
  })
  const closed = new Promise<void>((resolve) => running.once('close', () => resolve()))
  return {
    pid,
    startedAt,
    exited,
    closed: Promise.race([closed, detached]),
    killGroup: (signal) => {
      if (!gone) signalGroup(pid, signal)
    },
    groupAlive: isGroupAlive,
    detachOutput() {
      for (const pipe of [running.stdout, running.stderr]) if (pipe) discard(pipe)
      unref(running.stdio[3])
      release()
    },
  }
}

/** Until the program has exited; who started it looks after the rest. */
function watchCrowd(running: ChildProcess, { processesMax, onCrowd }: Crowd): void {
  const end = () => clearInterval(looks)
  const looks = setInterval(() => {
    if (!groupExceeds(running.pid as number, processesMax)) return
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
