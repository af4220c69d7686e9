/** Owns simulated processes: a test says what a program does; an unknown program is not there. */
import type { Child, Clock, Processes, ProcessExit, SpawnOptions } from '@sluice/base'
import { deferred } from './waiting.ts'
import { diskError } from './walk.ts'

type Signal = 'SIGTERM' | 'SIGKILL' | 'SIGINT'

/** How a handler drives its program. */
export interface SimProgram {
  readonly pid: number
  readonly options: SpawnOptions
  /** Signals that the group got, oldest first. */
  readonly signals: readonly Signal[]
  stdout(text: string | Uint8Array): void
  stderr(text: string | Uint8Array): void
  /** To descriptor 3. */
  report(text: string): void
  /** The process is over; its pipes end too unless a descendant holds them. */
  exit(how: number | Signal, options?: { readonly pipesHeld?: boolean }): void
  /** Ends the pipes that a descendant held, and the descendant. */
  endPipes(): void
  /** The group has this many processes now. */
  populate(processes: number): void
  /** Called instead of dying for SIGTERM and SIGINT. */
  onSignal(handler: (signal: Signal) => void): void
}

/** What a program does at once: prints, then exits. Without `code` or `signal` it exits with 0. */
export interface SimOutput {
  readonly stdout?: string
  readonly stderr?: string
  readonly code?: number
  readonly signal?: Signal
  /** Simulated time before it exits. */
  readonly afterMs?: number
}

/** Returns what to print, or drives the program and returns nothing. A throw kills it. */
export type ProgramHandler = (
  options: SpawnOptions,
  program: SimProgram,
) => SimOutput | void | Promise<SimOutput | void>

export type ProgramMatcher = string | RegExp | ((options: SpawnOptions) => boolean)

export interface SimProcesses extends Processes {
  /** Says what a program does, by file (whole or last component), pattern over `file args…`, or predicate. Latest first. */
  on(matcher: ProgramMatcher, handler: ProgramHandler): () => void
  /** Every program that was started. */
  readonly started: readonly SimProgram[]
  /** Programs that have not exited, with pid. A test ends with none. */
  readonly alive: readonly number[]
  /** A process that runs already, such as one that an earlier host started for `owner`. */
  plant(process: { readonly pid: number; readonly startedAt?: string; readonly owner?: string }): void
}

interface Running {
  readonly startedAt: string | undefined
  /** Of a process whose host has died. */
  readonly orphanOf?: string | undefined
  readonly signal: (signal: Signal) => void
}

const matches = (matcher: ProgramMatcher, options: SpawnOptions): boolean => {
  if (typeof matcher === 'function') return matcher(options)
  if (typeof matcher === 'string') return options.file === matcher || options.file.endsWith(`/${matcher}`)
  return matcher.test([options.file, ...options.args].join(' '))
}

const encode = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text.slice()

export function simProcesses(clock: Clock, onActivity: () => void): SimProcesses {
  const handlers: { matcher: ProgramMatcher; handler: ProgramHandler }[] = []
  const running = new Map<number, Running>()
  const started: SimProgram[] = []
  let nextPid = 5000

  const signalGroup = (pid: number, signal: Signal) => {
    onActivity()
    running.get(pid)?.signal(signal)
  }

  const start = (options: SpawnOptions, handler: ProgramHandler): Child => {
    const pid = nextPid++
    const startedAt = String(clock.monotonic())
    const exited = deferred<ProcessExit>()
    const closed = deferred()
    const signals: Signal[] = []
    let onSignal: ((signal: Signal) => void) | undefined
    let reading = true
    const endPipes = () => {
      onActivity()
      running.delete(pid)
      closed.resolve()
    }
    const program: SimProgram = {
      pid,
      options,
      signals,
      stdout: (text) => void (reading && options.onStdout?.(encode(text))),
      report: (text) => options.onReport?.(encode(text)),
      stderr: (text) => void (reading && options.onStderr?.(encode(text))),
      exit(how, { pipesHeld = false } = {}) {
        exited.resolve(typeof how === 'number' ? { code: how, signal: null } : { code: null, signal: how })
        onActivity()
        if (!pipesHeld) endPipes()
      },
      endPipes,
      populate(processes) {
        if (options.crowd && processes > options.crowd.processesMax) options.crowd.onCrowd()
      },
      onSignal: (each) => void (onSignal = each),
    }
    const signal = (name: Signal) => {
      signals.push(name)
      if (onSignal && name !== 'SIGKILL') return onSignal(name)
      program.exit(name)
      endPipes()
    }
    running.set(pid, { startedAt, signal })
    started.push(program)
    void drive(handler, program, clock)
    return {
      pid,
      startedAt,
      exited: exited.promise,
      closed: closed.promise,
      killGroup: (name) => signalGroup(pid, name),
      groupAlive: () => running.has(pid),
      detachOutput() {
        reading = false
        closed.resolve()
      },
    }
  }

  return {
    started,
    get alive() {
      return [...running.keys()]
    },
    on(matcher, handler) {
      const entry = { matcher, handler }
      handlers.unshift(entry)
      return () => void handlers.splice(handlers.indexOf(entry), 1)
    },
    plant({ pid, startedAt, owner }) {
      running.set(pid, { startedAt, orphanOf: owner, signal: () => void running.delete(pid) })
    },
    async spawn(options) {
      onActivity()
      await Promise.resolve()
      const entry = handlers.find((each) => matches(each.matcher, options))
      if (!entry) throw diskError('ENOENT', 'spawn', options.file)
      return start(options, entry.handler)
    },
    isAlive(pid, startedAt) {
      const process = running.get(pid)
      return process !== undefined && (startedAt === undefined || process.startedAt === startedAt)
    },
    startTimeOf: (pid) => running.get(pid)?.startedAt,
    killGroup: signalGroup,
    async endOrphans(owner) {
      await Promise.resolve()
      const orphans = [...running].filter(([, { orphanOf }]) => orphanOf === owner)
      for (const [pid] of orphans) signalGroup(pid, 'SIGKILL')
      return orphans.length
    },
  }
}

async function drive(handler: ProgramHandler, program: SimProgram, clock: Clock): Promise<void> {
  // The caller has its Child before the first output, as with a real process.
  await Promise.resolve()
  try {
    const output = await handler(program.options, program)
    if (!output) return
    if (output.stdout !== undefined) program.stdout(output.stdout)
    if (output.stderr !== undefined) program.stderr(output.stderr)
    const exit = () => program.exit(output.signal ?? output.code ?? 0)
    if (output.afterMs === undefined) exit()
    else clock.timer(output.afterMs, exit)
  } catch (error) {
    program.stderr(String(error))
    program.exit('SIGKILL')
  }
}
