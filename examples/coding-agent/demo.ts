/** Owns the demonstration: the agent fixes the bug in a copy of `workspace`, then files and log are checked. */
import { cp, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  chooseModel,
  EXIT,
  environmentText,
  openApp,
  SYSTEM_PROMPT,
  sandboxLine,
  showLive,
  type Terminal,
  terminalAnswerer,
} from '@sluice/cli'
import type { CompositionEntry } from '@sluice/compose'
import { nodeWorld } from '@sluice/world-node'
import { type Check, changedFiles, logChecks, recoveryCheck, runTests } from './checks.ts'
import { costs, reopened } from './log.ts'
import { type ModelServer, serveScriptedModel } from './scripted-model.ts'

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const composition = here('sluice.yml')
const TASK = 'A test of this library fails. Find the bug, fix it, and show that all tests pass. Keep a todo list.'
/** The one file that a right repair changes. */
const REPAIRED = ['src/split.js']

interface Demo {
  readonly folder: string
  readonly workspace: string
  readonly sessions: string
}

async function newDemo(): Promise<Demo> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-example-')))
  const demo = { folder, workspace: join(folder, 'workspace'), sessions: join(folder, 'sessions') }
  await cp(here('workspace'), demo.workspace, { recursive: true })
  return demo
}

/** The demo keeps its sessions to itself; the model is the scripted one, or the one that the environment names. */
function adjusted(
  entries: readonly CompositionEntry[],
  demo: Demo,
  env: NodeJS.ProcessEnv,
  wanted: string | undefined,
) {
  const choice = chooseModel(entries, env, wanted)
  const withStore = (entry: CompositionEntry) =>
    entry.id === 'store' ? { ...entry, config: { ...entry.config, dir: demo.sessions } } : entry
  return { model: choice.model, entries: choice.entries.map(withStore) }
}

async function play(terminal: Terminal, demo: Demo, server: ModelServer | undefined, wanted: string | undefined) {
  const real = nodeWorld()
  const env = server ? { ...real.host.env, SLUICE_BASE_URL: server.baseURL, SLUICE_MODEL: 'scripted' } : real.host.env
  const world = { ...real, host: { ...real.host, env } }
  let model = ''
  const app = await openApp({
    terminal,
    world,
    composition,
    adjust(entries) {
      const fit = adjusted(entries, demo, env, wanted)
      model = fit.model
      return fit.entries
    },
  })
  try {
    const { ctx } = app
    ctx.agents.section('example', 0, SYSTEM_PROMPT)
    ctx.agents.section('environment', 10, ({ cwd }) => environmentText(cwd, world.host.platform))
    terminal.write(`${await sandboxLine(ctx)}\n`)
    const session = await ctx.sessions.create({ cwd: demo.workspace, composition: app.composition })
    const agent = ctx.agents.create({ session, model })
    const hide = showLive(terminal, agent)
    if (terminal.interactive) ctx.get('approval')?.answerer('terminal', terminalAnswerer(terminal))
    let stopped = false
    terminal.onInterrupt(() => {
      void (stopped ? terminal.end(EXIT.interrupted) : agent.abort('interrupted by the user'))
      stopped = true
    })
    const result = await agent.send(TASK)
    hide()
    return { id: session.id, result }
  } finally {
    await app.close()
    real.dispose()
  }
}

/** Plays the demonstration and checks it; resolves to the exit code. */
export async function fixTheExample(terminal: Terminal, wanted: string | undefined): Promise<number> {
  const demo = await newDemo()
  const hasKey = ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY', 'SLUICE_BASE_URL'].some((name) => process.env[name])
  const server = hasKey ? undefined : await serveScriptedModel()
  terminal.write(
    server
      ? 'No API key is set: the model is a script that this program serves over HTTP. Everything else is real.\n'
      : 'An API key is set: the model is a real one.\n',
  )
  terminal.write(`Working folder: ${demo.workspace}\nTask: ${TASK}\n\n`)
  try {
    const { id, result } = await play(terminal, demo, server, wanted)
    if (result.reason === 'aborted') return EXIT.interrupted
    const events = await reopened(demo.sessions, id)
    const changed = await changedFiles(here('workspace'), demo.workspace)
    const checks: Check[] = [
      { says: 'the turn is completed', problem: result.reason === 'completed' ? undefined : result.reason },
      { says: 'the tests pass', problem: (await runTests(demo.workspace)) === 0 ? undefined : 'they do not' },
      {
        says: `only ${REPAIRED.join(', ')} has changed`,
        problem: changed.join() === REPAIRED.join() ? undefined : `changed: ${changed.join(', ') || 'nothing'}`,
      },
      ...logChecks(events),
      ...(server ? [recoveryCheck(events)] : []),
    ]
    terminal.write(`\n${costs(events)}\n\nChecked:\n`)
    for (const { says, problem } of checks) terminal.write(problem ? `  ✘ ${says}: ${problem}\n` : `  ✔ ${says}\n`)
    terminal.write(`\nSession log: ${join(demo.sessions, id, 'events.jsonl')}\n`)
    return checks.every(({ problem }) => problem === undefined) ? 0 : 1
  } finally {
    await server?.close()
  }
}
