/** Owns one command from its start to the end of its whole process group. */
import { type Child, type Clock, type ProcessExit, messageOf, type World } from '@sluice/base'
import { BoundedOutput } from './bounded-output.ts'
import { shellErrors } from './errors.ts'
import { endGroup } from './process-group.ts'
import { omittedNote } from './prompt.ts'
import type { CommandResult } from './types.ts'

/** After the shell has exited: how long output that is on its way is waited for. */
export const DRAIN_MS = 150
/** After TERM, before KILL. Below the time that an aborted call is given. */
export const END_GRACE_MS = 500
/** The same for what was left in the background. */
export const SURVIVOR_GRACE_MS = 200
/** Between two live views of the output. */
const PROGRESS_MS = 200
const PROGRESS_CHARS = 1_000

export interface CommandOptions {
  readonly world: Pick<World, 'clock' | 'processes'>
  readonly shell: string
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly charsMax: number
  /** Any of them ends the command. */
  readonly signals: readonly AbortSignal[]
  readonly onProgress: (latest: string) => void
}

/** Resolves when no process of the command's group is left, or nothing more can be done about it.
 *  @throws SHELL_NOT_STARTED */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const { world, timeoutMs, signals } = options
  const { clock } = world
  const startedAt = clock.monotonic()
  const output = new BoundedOutput(options.charsMax)
  const child = await start(options, output)
  const ended = await firstEnd(child, clock, timeoutMs, signals)
  let survivors: CommandResult['survivors'] = 'none'
  if (ended === 'exited') await within(clock, DRAIN_MS, child.closed)
  if (child.groupAlive()) {
    const gone = await endGroup(child, clock, ended === 'exited' ? SURVIVOR_GRACE_MS : END_GRACE_MS)
    survivors = gone ? 'ended' : 'alive'
    await within(clock, DRAIN_MS, child.closed)
  }
  // Whoever still holds the pipes has left the group; nobody listens to it any more.
  child.detachOutput()
  const exit: ProcessExit = (await within(clock, DRAIN_MS, child.exited)) ?? { code: null, signal: null }
  const { text, omitted } = output.finish(omittedNote)
  return {
    output: text,
    omitted,
    exitCode: exit.code,
    signal: exit.signal,
    ended,
    durationMs: clock.monotonic() - startedAt,
    survivors,
  }
}

async function start(options: CommandOptions, output: BoundedOutput): Promise<Child> {
  const { world, shell, command, cwd, env, onProgress } = options
  const [stdout, stderr] = [output.stream(), output.stream()]
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = () => {
    const now = world.clock.monotonic()
    if (now - toldAt < PROGRESS_MS) return
    toldAt = now
    onProgress(output.latest(PROGRESS_CHARS))
  }
  const listener = (stream: typeof stdout) => (bytes: Uint8Array) => {
    stream.push(bytes)
    tell()
  }
  try {
    // The dashes keep a command that starts with one from being taken for an option.
    const args = ['-c', '--', command]
    return await world.processes.spawn({
      file: shell,
      args,
      cwd,
      env,
      onStdout: listener(stdout),
      onStderr: listener(stderr),
    })
  } catch (error) {
    throw shellErrors('SHELL_NOT_STARTED', { shell, cwd, problem: messageOf(error) }, { cause: error })
  }
}

/** What ends the wait first: the shell, the limit, or an abort (of which a deadline is one that timed out). */
function firstEnd(
  child: Child,
  clock: Clock,
  ms: number,
  signals: readonly AbortSignal[],
): Promise<CommandResult['ended']> {
  return new Promise((resolve) => {
    const end = (how: CommandResult['ended']) => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
      resolve(how)
    }
    const onAbort = () => {
      const timedOut = signals.some(({ aborted, reason }) => aborted && isTimeout(reason))
      end(timedOut ? 'timed-out' : 'aborted')
    }
    const cancel = clock.timer(ms, () => end('timed-out'))
    if (signals.some((signal) => signal.aborted)) return onAbort()
    for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true })
    void child.exited.then(() => end('exited'))
  })
}

const isTimeout = (reason: unknown): boolean => reason instanceof Error && reason.name === 'TimeoutError'

/** The value, or nothing when it takes longer than `ms`. */
function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = clock.timer(ms, () => resolve(undefined))
    void promise.then((value) => {
      cancel()
      resolve(value)
    })
  })
}
