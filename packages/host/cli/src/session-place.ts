/** Owns finding the session that somebody means, and the services that look at it. */
import { basename, dirname, join, resolve } from 'node:path'
import { editDistance, isDiskError, isSluiceError, type World } from '@sluice/base'
import * as sessionPlugin from '@sluice/session'
import type { Session, Sessions } from '@sluice/session'
import * as storePlugin from '@sluice/store-jsonl'
import { Context } from 'cordis'
import { cliErrors } from './errors.ts'
import type { Terminal } from './terminal.ts'

/** Ids that are named beside one that is not there, or not clear. */
const NAMED_MAX = 3

/** Mounts what sessions in `dir` (default: where they are kept) need, and takes it down again. */
export async function withSessions<T>(
  world: World,
  dir: string | undefined,
  use: (ctx: Context) => Promise<T>,
): Promise<T> {
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

/** The session that `given` names: its log, its folder, its id, the beginning of its id, or `last`. */
export async function withSession<T>(
  terminal: Terminal,
  world: World,
  given: string,
  use: (ctx: Context, id: string) => Promise<T>,
): Promise<T> {
  const place = await placeOf(terminal, world, given)
  if (place) return withSessions(world, place.dir, (ctx) => use(ctx, place.id))
  const cwd = resolve(terminal.cwd)
  return withSessions(world, undefined, async (ctx) => use(ctx, await idOf(ctx.sessions, given, cwd)))
}

/** @throws CLI_SESSION_DAMAGED where nothing can be appended before a repair */
export function refuseDamaged({ id, findings }: Session): void {
  const damage = findings.find(({ kind }) => kind !== 'torn-tail')
  if (damage) throw cliErrors('CLI_SESSION_DAMAGED', { id, ...damage })
}

/** The id that `given` is or begins; `last` is the newest session of the folder `cwd`.
 *  @throws CLI_NO_SESSION, CLI_SESSION_UNKNOWN, CLI_SESSION_AMBIGUOUS */
export async function idOf(sessions: Sessions, given: string, cwd: string): Promise<string> {
  if (given === 'last') {
    const newest = (await sessions.list()).find((summary) => summary.cwd === cwd)
    if (!newest) throw cliErrors('CLI_NO_SESSION', { cwd })
    return newest.id
  }
  if (await exists(sessions, given)) return given
  const ids = (await sessions.list()).map(({ id }) => id)
  const meant = given === '' ? [] : ids.filter((id) => id.startsWith(given))
  if (meant.length > 1) {
    throw cliErrors('CLI_SESSION_AMBIGUOUS', { given, count: meant.length, some: meant.slice(0, NAMED_MAX) })
  }
  if (meant[0] !== undefined) return meant[0]
  throw cliErrors('CLI_SESSION_UNKNOWN', { given, nearest: nearest(given, ids) })
}

async function exists(sessions: Sessions, id: string): Promise<boolean> {
  try {
    await sessions.holder(id)
    return true
  } catch (error) {
    if (isSluiceError(error, 'SESSION_NOT_FOUND') || isSluiceError(error, 'SESSION_ID_INVALID')) return false
    throw error
  }
}

/** Whole ids, their beginnings and their ends are what people mistype. */
function nearest(given: string, ids: readonly string[]): string[] {
  const wanted = given.slice(0, 128)
  const far = (id: string) => {
    const parts = [id, id.slice(0, wanted.length), id.slice(-wanted.length)]
    return Math.min(...parts.map((part) => editDistance(wanted, part)))
  }
  return ids
    .map((id) => ({ id, distance: far(id) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NAMED_MAX)
    .map(({ id }) => id)
}

/** The folder of sessions and the id of a log that `given` leads to; `undefined` when it can only be an id. */
async function placeOf(terminal: Terminal, { disk }: World, given: string) {
  const path = resolve(terminal.cwd, given)
  const folder = basename(path) === 'events.jsonl' ? dirname(path) : path
  const isPath = /[/\\]/.test(given)
  try {
    await disk.lstat(join(folder, 'events.jsonl'))
  } catch (error) {
    if (!isPath) return undefined
    if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ENOTDIR')) throw cliErrors('CLI_NOT_A_SESSION', { path })
    // Why it cannot be read is told by opening it.
    if (!isDiskError(error)) throw error
  }
  return { dir: dirname(folder), id: basename(folder) }
}
