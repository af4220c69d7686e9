/** Owns `sluice run`: one task, or a conversation. */
import type { Agent, TurnResult } from '@sluice/agent'
import type { HostInfo, World } from '@sluice/base'
import type { Importer } from '@sluice/compose'
import type { Session } from '@sluice/session'
import { type App, openApp } from './app.ts'
import { terminalAnswerer } from './ask.ts'
import { cliErrors } from './errors.ts'
import { EXIT, exitCodeOf } from './exit-code.ts'
import { type Interrupts, interrupts } from './interrupts.ts'
import { chooseModel } from './model-choice.ts'
import { compositionFile, noteUnused, workingFolder } from './paths.ts'
import { environmentText, SYSTEM_PROMPT } from './prompt.ts'
import { remedyOf } from './remedies.ts'
import { sessionLine } from './session-line.ts'
import { idOf } from './session-place.ts'
import { sandboxLine } from './sandbox-line.ts'
import type { Terminal } from './terminal.ts'
import { showJson, showLive } from './view.ts'

export interface RunOptions {
  readonly json?: boolean
  readonly cwd?: string
  readonly model?: string
  readonly composition?: string
  /** An id, or `last`. */
  readonly session?: string
}

export interface RunParts {
  readonly world: World
  readonly importer?: Importer
}

/** Runs the task that is `given`, or holds a conversation without one; resolves to the exit code.
 *  @throws typed errors for whatever keeps a turn from starting */
export async function run(
  terminal: Terminal,
  parts: RunParts,
  given: string | undefined,
  options: RunOptions,
): Promise<number> {
  const { world } = parts
  // An empty variable of a script is no task.
  const task = given?.trim() === '' ? undefined : given
  if (task === undefined && !terminal.interactive) throw cliErrors('CLI_NO_TASK', {})
  const cwd = await workingFolder(world.disk, terminal.cwd, options.cwd)
  const composition = await compositionFile(world, terminal.cwd, options.composition)
  if (options.composition === undefined) await noteUnused(world.disk, cwd, (text) => terminal.writeError(text))
  let model = ''
  const app = await openApp({
    terminal,
    composition,
    ...parts,
    adjust(entries) {
      const choice = chooseModel(entries, world.host.env, options.model)
      model = choice.model
      return choice.entries
    },
  })
  const ctrlC = interrupts(terminal)
  try {
    const work = play(terminal, app, ctrlC, { task, options, cwd, model, host: world.host })
    return await Promise.race([work, ctrlC.forced.then(() => EXIT.interrupted)])
  } finally {
    ctrlC.dispose()
  }
}

interface Play {
  readonly task: string | undefined
  readonly options: RunOptions
  readonly cwd: string
  readonly model: string
  readonly host: HostInfo
}

async function play(terminal: Terminal, app: App, ctrlC: Interrupts, plan: Play): Promise<number> {
  try {
    return await converseOrRun(terminal, app, ctrlC, plan)
  } finally {
    await app.close()
  }
}

async function converseOrRun(terminal: Terminal, app: App, ctrlC: Interrupts, plan: Play): Promise<number> {
  const { ctx } = app
  const { options, task, model, host } = plan
  ctx.agents.section('sluice', 0, SYSTEM_PROMPT)
  ctx.agents.section('environment', 10, (session) => environmentText(session.cwd, host.platform))
  if (terminal.interactive && !options.json) ctx.get('approval')?.answerer('terminal', terminalAnswerer(terminal))
  if (!options.json) terminal.writeError(await sandboxLine(ctx))
  const { session, from } = await openSession(app, plan.cwd, options.session)
  const agent = ctx.agents.create({ session, model })
  const hide = options.json ? showJson(terminal, session, from) : showLive(terminal, agent)
  try {
    if (task === undefined) return await converse(terminal, agent, ctrlC)
    return await oneTurn(terminal, agent, ctrlC, task)
  } finally {
    hide()
    await agent.close()
    await session.close()
    if (!options.json) terminal.writeError(sessionLine(session.id, app.entries, host))
  }
}

async function oneTurn(terminal: Terminal, agent: Agent, ctrlC: Interrupts, task: string): Promise<number> {
  const result = await ctrlC.during(agent.send(task), () => void agent.abort('interrupted by the user'))
  await explain(terminal, result)
  return exitCodeOf(result)
}

/** Turns until the end of input, or a Ctrl-C at the prompt. */
async function converse(terminal: Terminal, agent: Agent, ctrlC: Interrupts): Promise<number> {
  for (;;) {
    const idle = ctrlC.idle()
    const line = await terminal.readLine('\n> ', idle)
    if (line === undefined) return idle.aborted ? EXIT.interrupted : EXIT.done
    if (line.trim() !== '') await oneTurn(terminal, agent, ctrlC, line)
  }
}

/** What to do about a turn that failed or was denied something; how it ended is already shown. */
async function explain(terminal: Terminal, { reason, code, denied }: TurnResult): Promise<void> {
  const remedy = reason === 'error' && code !== undefined ? await remedyOf(code) : undefined
  if (remedy !== undefined) terminal.writeError(`  → ${remedy}\n`)
  if (denied.length > 0)
    terminal.writeError(`${denied.length} of its calls ${denied.length === 1 ? 'was' : 'were'} denied\n`)
}

/** A new session in `cwd`, or an existing one to go on with, and the first of its events that is new. */
async function openSession(
  { ctx, composition }: App,
  cwd: string,
  wanted: string | undefined,
): Promise<{ session: Session; from: number }> {
  const { sessions } = ctx
  if (wanted === undefined) return { session: await sessions.create({ cwd, composition }), from: 0 }
  const session = await sessions.open(await idOf(sessions, wanted, cwd))
  const resumed = session.events.findLast((event) => event.type === 'session/resumed')
  return { session, from: resumed?.seq ?? session.firstSeq + session.events.length }
}
