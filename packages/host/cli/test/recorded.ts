/** Owns recorded sessions on a simulated machine, and the command run on it. */
import * as fsPlugin from '@sluice/fs'
import * as sessionPlugin from '@sluice/session'
import type { Session } from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import { type SimWorld, type SimWorldOptions, simWorld } from '@sluice/testkit'
import { Context } from 'cordis'
import { runCli } from '../src/cli.ts'
import { type WatchedTerminal, watchedTerminal } from './harness.ts'

export const SESSIONS = '/proj/data/sluice/sessions'

export function machine(options: SimWorldOptions = {}): SimWorld {
  const world = simWorld({ ...options, host: { env: { XDG_DATA_HOME: '/proj/data' } } })
  world.processes.plant({ pid: world.host.pid })
  return world
}

/** The same machine, or its disk on another host, seen by another process that lives. */
export function processOn(world: SimWorld, pid: number, hostname = world.host.hostname): SimWorld {
  world.processes.plant({ pid })
  return { ...world, host: { ...world.host, pid, hostname } }
}

/** What a program that writes sessions has mounted. */
export async function writer(world: SimWorld): Promise<Context> {
  const ctx = new Context()
  ctx.provide('world', world)
  await ctx.plugin(storePlugin, {})
  await ctx.plugin(sessionPlugin)
  await ctx.plugin(fsPlugin, {})
  return ctx
}

/** A turn with one question and one answer. */
export function converse(session: Session, turn: number): void {
  session.append('turn/started', { turn })
  session.append('user/message', { content: [{ type: 'text', text: `question ${turn}` }], source: 'user' })
  session.append('assistant/message', {
    content: [{ type: 'text', text: `answer ${turn}` }],
    finish: 'stop',
    model: 'sim/one',
  })
  session.append('turn/ended', { turn, reason: 'completed' })
}

/** A closed session with `turns` turns: event 4 ends the first, event 8 the second. */
export async function record(world: SimWorld, id: string, turns = 2, cwd = '/proj/work'): Promise<void> {
  const ctx = await writer(world)
  const session = await ctx.sessions.create({ cwd, id })
  for (let turn = 1; turn <= turns; turn++) converse(session, turn)
  await session.close()
}

export function logOf(id: string): string {
  return `${SESSIONS}/${id}/events.jsonl`
}

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

type TerminalOptions = Parameters<typeof watchedTerminal>[1] & {
  readonly cwd?: string
  /** Happens while the command waits for an answer. */
  readonly meanwhile?: () => Promise<void>
}

export async function sluice(world: SimWorld, argv: readonly string[], options: TerminalOptions = {}): Promise<Ran> {
  const { cwd = '/proj', meanwhile, ...others } = options
  const terminal: WatchedTerminal = watchedTerminal(cwd, others)
  const readAnswer: WatchedTerminal['readAnswer'] = async (...asked) => {
    await meanwhile?.()
    return terminal.readAnswer(...asked)
  }
  const code = await runCli(argv, Object.assign(Object.create(terminal) as WatchedTerminal, { readAnswer }), { world })
  return { code, out: terminal.out, err: terminal.err }
}

/** Changes the log of a session as no program of ours would. */
export function spoil(world: SimWorld, id: string, change: (log: string) => string): void {
  world.disk.plant({ [logOf(id)]: { content: change(world.disk.text(logOf(id)) ?? ''), mode: 0o600 } })
}

/** A bad bit in event 2, on line 3. */
export const bitFlip = (log: string) => log.replace('question 1', 'question i')
