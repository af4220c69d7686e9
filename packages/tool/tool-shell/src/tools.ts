/** Owns the definitions of the shell tools. */
import type { SpawnOptions, World } from '@sluice/base'
import { type Sandbox, wantsOf } from '@sluice/sandbox'
import type { Card, Run, ToolDefinition, ToolResult } from '@sluice/tools'
import { type BashArgs, bashArgs, KillArgs, OutputArgs, WAIT_MS_MAX } from './arguments.ts'
import { startCommand } from './command.ts'
import { commandEnvironment } from './environment.ts'
import type { JobRequest, Jobs } from './jobs.ts'
import type { Config } from './plugin.ts'
import {
  authorityNotes,
  bashText,
  cutNote,
  description,
  jobText,
  killDescription,
  outputDescription,
} from './prompt.ts'
import { boundedOutput, grantedBy, limitsShown, shownOutput } from './shown.ts'
import type { CommandResult, Granted, JobReport, JobStarted, ShownOutput } from './types.ts'

/** On top of the longest limit of a command, for ending it: other deadlines stay behind the tool's own. */
const DEADLINE_MARGIN_MS = 5_000
/** Between two live views of the output. */
const PROGRESS_MS = 200
const PROGRESS_CHARS = 1_000
/** Characters of output on a card. */
const CARD_CHARS = 2_000

export interface ShellServices {
  readonly world: World
  readonly config: Config
  readonly jobs: Jobs
  /** Fires when the tools go away: commands end with them. */
  readonly gone: AbortSignal
  /** Told of each command that runs, until it has ended. */
  readonly track: (running: Promise<unknown>) => void
  /** What confines commands, where one is mounted. */
  readonly sandbox: () => Sandbox | undefined
}

export function bashTool(services: ShellServices): ToolDefinition<BashArgs> {
  const { config, world, jobs } = services
  const { defaultTimeoutMs, maxTimeoutMs } = config
  return {
    name: 'bash',
    description: description(defaultTimeoutMs, maxTimeoutMs),
    parameters: bashArgs(maxTimeoutMs),
    aliases: ['Bash'],
    annotations: { destructive: true, openWorld: true, startsProcesses: true },
    timeoutMs: maxTimeoutMs + DEADLINE_MARGIN_MS,
    // A command may change whatever the calls beside it read or write; which ones do not cannot be told for certain.
    overlap: 'exclusive',
    async execute(args, run): Promise<CommandResult | JobStarted> {
      const { command, timeoutMs, background = false } = args
      const env = commandEnvironment(world.host.env, { pass: config.passEnv, set: config.setEnv })
      const { spawn, limits, look } = await confinement(services, args, run)
      const { shell, processesMax } = config
      const { id: owner, cwd } = run.session
      const options = { spawn, shell, command, cwd, env, owner, processesMax }
      if (!background) {
        return foreground({ ...options, timeoutMs: timeoutMs ?? defaultTimeoutMs }, { limits, look }, services, run)
      }
      const { session, callId } = run
      return { job: await jobs.start({ session, callId, limits, look, command: { ...options, timeoutMs } }) }
    },
    render: (value) => bashText(value as unknown as CommandResult | JobStarted),
    presentCall: bashCard,
    presentResult(args, result) {
      const value = result.value as unknown as CommandResult | JobStarted
      return 'job' in value ? bashCard(args) : terminalCard(bashCard(args), value, value.exitCode)
    },
    specifier: ({ command }) => command,
  }
}

export function outputTool({ jobs }: ShellServices): ToolDefinition<OutputArgs> {
  return {
    name: 'bash_output',
    description: outputDescription,
    parameters: OutputArgs,
    aliases: ['BashOutput'],
    annotations: { readOnly: true },
    overlap: 'parallel',
    timeoutMs: WAIT_MS_MAX + DEADLINE_MARGIN_MS,
    execute: ({ job, waitMs = 0 }, run) => jobs.report(run.session, job, waitMs, run.signal),
    render: (value) => jobText(value as unknown as JobReport),
    presentCall: ({ job }) => jobCard('Output', job),
    presentResult: ({ job }, result) => jobResultCard(jobCard('Output', job), result),
    specifier: ({ job }) => job,
  }
}

export function killTool({ jobs }: ShellServices): ToolDefinition<KillArgs> {
  return {
    name: 'bash_kill',
    description: killDescription,
    parameters: KillArgs,
    aliases: ['KillBash', 'KillShell'],
    annotations: { idempotent: true },
    async execute({ job }, run) {
      await jobs.kill(run.session, job)
      return jobs.report(run.session, job, 0, run.signal)
    },
    render: (value) => jobText(value as unknown as JobReport),
    presentCall: ({ job }) => jobCard('End', job),
    presentResult: ({ job }, result) => jobResultCard(jobCard('End', job), result),
    specifier: ({ job }) => job,
  }
}

type Foreground = Omit<Parameters<typeof startCommand>[0], 'world' | 'signals' | 'onText'>

/** How commands of this call are started, and what they are held to. */
async function confinement({ sandbox: mounted, world }: ShellServices, args: BashArgs, { session, callId }: Run) {
  const sandbox = mounted()
  if (!sandbox)
    return { spawn: (options: SpawnOptions) => world.processes.spawn(options), limits: undefined, look: undefined }
  const wants = wantsOf(args)
  const limits = await sandbox.limits(wants)
  return {
    spawn: (options: SpawnOptions) => sandbox.spawn(options, { session, callId, wants }),
    limits,
    look: limits === undefined ? undefined : () => sandbox.appeared(session),
  }
}

function foreground(
  command: Foreground,
  { limits, look }: Pick<JobRequest, 'limits' | 'look'>,
  { world, config, gone, track }: ShellServices,
  run: Run,
) {
  const output = boundedOutput(run.session, `bash ${run.callId}`, config.outputCharsMax)
  let toldAt = Number.NEGATIVE_INFINITY
  const onText = (text: string) => {
    output.add(text)
    const now = world.clock.monotonic()
    if (now - toldAt < PROGRESS_MS) return
    toldAt = now
    run.progress({ output: output.latest(PROGRESS_CHARS) })
  }
  const running = (async (): Promise<CommandResult> => {
    const { ended } = await startCommand({ ...command, world, signals: [run.signal, gone], onText })
    const end = await ended
    const shown = await shownOutput(output)
    return { ...end, ...shown, ...limitsShown(limits, shown.output, end), ...(await grantedBy(look)) }
  })()
  track(running)
  return running
}

function bashCard({ command, description: title }: BashArgs): Card {
  return { v: 1, kind: 'terminal', title: title ?? 'bash', command }
}

function jobCard(verb: string, job: string): Card {
  return { v: 1, kind: 'terminal', title: `${verb} of ${job}`, command: job }
}

function jobResultCard(card: Card, { value }: ToolResult): Card {
  const report = value as unknown as JobReport
  return terminalCard(card, report, report.end?.exitCode)
}

function terminalCard(card: Card, shown: ShownOutput & Granted, exitCode: number | null | undefined): Card {
  const notes = [...authorityNotes(shown), ...(shown.authority?.cut ? [cutNote] : [])]
  const lines = lastLines(shown.output, CARD_CHARS)
  const output =
    notes.length === 0 ? lines : [...(lines === '' ? [] : [lines.replace(/\n+$/, '')]), ...notes].join('\n')
  return { ...card, output, ...(exitCode !== undefined && { exitCode }) } as Card
}

/** The last whole lines that fit into `chars`; of a last line that does not fit, its end. */
function lastLines(text: string, chars: number): string {
  if (text.length <= chars) return text
  const start = text.length - chars
  const line = text.indexOf('\n', start - 1) + 1
  return text.slice(line > 0 && line < text.length ? line : start).toWellFormed()
}
