/** Owns the host whose logs are measured: its folder, what is mounted, and what is said in a session. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as agent from '@sluice/agent'
import * as files from '@sluice/fs'
import * as llm from '@sluice/llm'
import * as session from '@sluice/session'
import type { Session, SessionEvent } from '@sluice/session'
import * as store from '@sluice/store-jsonl'
import * as tools from '@sluice/tools'
import * as world from '@sluice/world-node'
import { Context, type Plugin } from 'cordis'

/** Gone when the process ends. */
export const dir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.once('exit', () => rmSync(dir, { recursive: true, force: true }))

/** All packages that keep folds of a session in an ordinary composition. */
export async function mounted(): Promise<Context> {
  const ctx = new Context()
  await ctx.plugin(world)
  await ctx.plugin(store as Plugin, { dir } as never)
  for (const plugin of [session, llm, files]) await ctx.plugin(plugin as Plugin)
  await ctx.plugin(tools, { otherwise: 'allow' })
  await ctx.plugin(agent as Plugin)
  return ctx
}

export const text =
  'const value = await ctx.tools.execute({ callId, name, arguments }); // "quoted" text\n\tand a tab, é and 漢字 '

export function said(n: number) {
  const content = [{ type: 'text', text: text.repeat(2) + n }] as const
  return { content, source: 'bench' }
}

export function say(log: Session, n: number): SessionEvent {
  return log.append('user/message', said(n))
}

let running: Promise<Context> | undefined

/** A host that goes on running. */
export function host(): Promise<Context> {
  return (running ??= mounted())
}
