/** Owns one command from its start to the end of its whole process group. */
import {
  type Child,
  type Clock,
  isSluiceError,
  type ProcessExit,
  messageOf,
  type SpawnOptions,
  type World,
} from '@sluice/base'
import { shellErrors } from './errors.ts'
import { endGroup } from './process-group.ts'
import { type TextStream, textStream } from './text-stream.ts'
import type { CommandEnd } from './types.ts'

/** After the shell has exited: how long output that is on its way is waited for. */
export const DRAIN_MS = 150
/** After TERM, before KILL. Below the time that an aborted call is given. */
export const END_GRACE_MS = 500
/** The same for what was left in the background. */
export const SURVIVOR_GRACE_MS = 200

/** A crowd is not asked to end: it would grow. */
const graceMs = { exited: SURVIVOR_GRACE_MS, 'timed-out': END_GRACE_MS, aborted: END_GRACE_MS, crowded: 0 }

export interface CommandOptions {
  readonly world: Pick<World, 'clock'>
  /** Starts the shell, confined as the call may have it. */
  readonly spawn: (options: SpawnOptions) => Promise<Child>
  readonly shell: string
  readonly command: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Id of the session, by which what is left is found when this host dies. */
  readonly owner: string
  /** Without it the command may run for ever. */
  readonly timeoutMs: number | undefined
  /** With more processes it is ended. */
  readonly processesMax: number
  /** Any of them ends the command. */
  readonly signals: readonly AbortSignal[]
  /** What is printed, as plain text. */
  readonly onText: (text: string) => void
}

/** Resolves when the command runs. `ended` never rejects; it resolves when no process of the command's group is left, or
 *  nothing more can be done about it.
 *  @throws SHELL_NOT_STARTED, and what the sandbox throws */
export async function startCommand(options: CommandOptions): Promise<{ readonly ended: Promise<CommandEnd> }> {
  const { clock } = options.world
  const startedAt = clock.monotonic()
  const streams = [textStream(options.onText), textStream(options.onText)] as const
  let onCrowd!: () => void
  const crowded = new Promise<void>((resolve) => {
    onCrowd = resolve
  })
  const child = await spawned(options, streams, onCrowd)
  return { ended: untilEnded({ child, streams, startedAt, crowded }, options) }
}

interface Running {
  readonly child: Child
  readonly streams: readonly TextStream[]
  readonly startedAt: number
  readonly crowded: Promise<void>
}

async function untilEnded(running: Running, options: CommandOptions): Promise<CommandEnd> {
  const { child, streams, startedAt } = running
  const { clock } = options.world
  const ended = await firstEnd(running, options)
  let survivors: CommandEnd['survivors'] = 'none'
  if (ended === 'exited') await within(clock, DRAIN_MS, child.closed)
  if (child.groupAlive()) {
    const gone = await endGroup(child, clock, graceMs[ended])
    survivors = gone ? 'ended' : 'alive'
    await within(clock, DRAIN_MS, child.closed)
  }
  // Whoever still holds the pipes has left the group; nobody listens to it any more.
  child.detachOutput()
  const exit: ProcessExit = (await within(clock, DRAIN_MS, child.exited)) ?? { code: null, signal: null }
  for (const stream of streams) stream.flush()
  const durationMs = Math.round(clock.monotonic() - startedAt)
  return { exitCode: exit.code, signal: exit.signal, ended, durationMs, survivors }
}

async function spawned(
  { spawn, shell, command, cwd, env, owner, processesMax }: CommandOptions,
  [stdout, stderr]: readonly [TextStream, TextStream],
  onCrowd: () => void,
): Promise<Child> {
  try {
    // The dashes keep a command that starts with one from being taken for an option.
    const args = ['-c', '--', command]
    return await spawn({
      file: shell,
      args,
      cwd,
      env,
      owner,
      crowd: { processesMax, onCrowd },
      onStdout: (bytes) => stdout.push(bytes),
      onStderr: (bytes) => stderr.push(bytes),
    })
  } catch (error) {
    // The sandbox says for itself why it starts nothing.
    if (isSluiceError(error)) throw error
    throw shellErrors('SHELL_NOT_STARTED', { shell, cwd, problem: messageOf(error) }, { cause: error })
  }
}

/** What ends the wait first: the shell, a limit, or an abort (of which a deadline is one that timed out). */
function firstEnd(
  { child, crowded }: Running,
  { world: { clock }, timeoutMs: ms, signals }: CommandOptions,
): Promise<CommandEnd['ended']> {
  return new Promise((resolve) => {
    const end = (how: CommandEnd['ended']) => {
      cancel()
      for (const signal of signals) signal.removeEventListener('abort', onAbort)
      resolve(how)
    }
    const onAbort = () => {
      const timedOut = signals.some(({ aborted, reason }) => aborted && isTimeout(reason))
      end(timedOut ? 'timed-out' : 'aborted')
    }
    const cancel = ms === undefined ? () => {} : clock.timer(ms, () => end('timed-out'))
    if (signals.some((signal) => signal.aborted)) return onAbort()
    for (const signal of signals) signal.addEventListener('abort', onAbort, { once: true })
    void crowded.then(() => end('crowded'))
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
