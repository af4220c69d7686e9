/** Owns `sluice session`: what was recorded, shown without mounting any policy or tool. */
import { basename, dirname, resolve } from 'node:path'
import { isDiskError, type World } from '@sluice/base'
import * as sessionPlugin from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import { Context } from 'cordis'
import { cliErrors } from './errors.ts'
import { EXIT } from './exit-code.ts'
import { printableLine } from './printable.ts'
import type { Terminal } from './terminal.ts'
import { showRecorded } from './view.ts'

/** Shows the session at `given`: a log file, its folder, or an id; resolves to the exit code. */
export async function showSession(terminal: Terminal, world: World, given: string): Promise<number> {
  const { dir, id } = await place(terminal, world, given)
  return withSessions(world, dir, async (ctx) => {
    const session = await ctx.sessions.open(id, 'read')
    showRecorded(terminal, session)
    for (const { line, kind, detail } of session.findings) terminal.writeError(`line ${line}: ${kind}: ${detail}\n`)
    return session.findings.length > 0 ? EXIT.failed : EXIT.done
  })
}

/** Lists sessions, newest first; resolves to the exit code. */
export async function listSessions(terminal: Terminal, world: World): Promise<number> {
  return withSessions(world, undefined, async (ctx) => {
    for (const { id, cwd, startedAt, problem } of await ctx.sessions.list()) {
      const when = startedAt === 0 ? '' : `${new Date(startedAt).toISOString().slice(0, 16).replace('T', ' ')}  `
      terminal.write(`${id}  ${when}${printableLine(problem ?? cwd, 200)}\n`)
    }
    return EXIT.done
  })
}

async function withSessions(world: World, dir: string | undefined, use: (ctx: Context) => Promise<number>) {
  const ctx = new Context()
  ctx.provide('world', world)
  const store = await ctx.plugin(storePlugin, dir === undefined ? {} : { dir })
  const sessions = await ctx.plugin(sessionPlugin)
  try {
    return await use(ctx)
  } finally {
    await sessions.dispose()
    await store.dispose()
  }
}

/** Where the session is: the folder of its sessions, where it is not the usual one, and its id. */
async function place(terminal: Terminal, { disk }: World, given: string): Promise<{ dir?: string; id: string }> {
  const path = resolve(terminal.cwd, given)
  try {
    const { kind } = await disk.stat(path)
    const folder = kind === 'directory' ? path : dirname(path)
    if (kind !== 'directory' && basename(path) !== 'events.jsonl') throw cliErrors('CLI_NOT_A_SESSION', { path })
    return { dir: dirname(folder), id: basename(folder) }
  } catch (error) {
    if (isDiskError(error) && !/[/\\]/.test(given)) return { id: given }
    throw isDiskError(error) ? cliErrors('CLI_NOT_A_SESSION', { path }) : error
  }
}
