/** Owns what a list of sessions shows: read from the beginning and the end of each log, not from the whole. */
import { type DiskFile, isDiskError, isSluiceError, messageOf, type World } from '@sluice/base'
import { type SessionEvent, sessionErrors, type SessionSummary } from '@sluice/session'
import { readAll } from './disk.ts'
import { layoutOf } from './layout.ts'
import { knownPlace } from './index-file.ts'
import { type Known, readEnd } from './log-end.ts'
import { readWhole } from './open-file.ts'
import { decodeRecord, LF, Problem } from './record.ts'
import { isDamage } from './scan.ts'

/** Bytes in which the first record must end. */
const FIRST_BYTES_MAX = 64 << 10
/** Logs looked at together. */
const LOOKS_MAX = 16

/** Every session below `root`, newest first: folders and links to folders that hold a log. One that cannot be read says so. */
export async function summaries(world: World, root: string): Promise<SessionSummary[]> {
  const entries = await world.disk.readdir(root)
  const ids = entries
    .filter(({ name, kind }) => (kind === 'directory' || kind === 'symlink') && !name.startsWith('.'))
    .map((entry) => entry.name)
  const found: SessionSummary[] = []
  const look = async () => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const summary = await summaryOf(world, root, id)
      if (summary) found.push(summary)
    }
  }
  await Promise.all(Array.from({ length: LOOKS_MAX }, look))
  return found.sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1))
}

/** `undefined` for a folder whose session never came to its first write. */
export async function summaryOf(world: World, root: string, id: string): Promise<SessionSummary | undefined> {
  const { disk } = world
  const layout = layoutOf(root, id)
  const path = layout.events
  try {
    const file = await disk.open(path, { read: true, noFollow: true, nonBlocking: true })
    try {
      const { kind, size } = await file.stat()
      if (kind !== 'file') return unreadable(id, path, `a ${kind} stands in place of the log`)
      const start = startOf(await readAll(file, Math.min(size, FIRST_BYTES_MAX)))
      return start
        ? await summed(id, path, start, file, await knownPlace(disk, layout))
        : await badlyBegun(id, path, file)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ENOTDIR')) return undefined
    // The id and the place are told already.
    if (isSluiceError(error, 'SESSION_NOT_A_LOG'))
      return unreadable(id, path, (error.data as { detail: string }).detail)
    return unreadable(id, path, isDiskError(error) ? `it cannot be read (${error.code})` : messageOf(error))
  }
}

async function summed(
  id: string,
  path: string,
  { at: startedAt, data: { cwd, format } }: SessionEvent<'session/started'>,
  file: DiskFile,
  known: Known | undefined,
): Promise<SessionSummary> {
  if (typeof format === 'number' && format > 1) throw sessionErrors('SESSION_NEWER_FORMAT', { id, path, format })
  const { last, damage } = await readEnd(file, known)
  return { id, cwd, startedAt, path, ...(last && { last }), ...(damage && { damage }) }
}

/** Only the whole log tells what there is after a beginning that is not as it should be. */
async function badlyBegun(id: string, path: string, file: DiskFile): Promise<SessionSummary> {
  let first: SessionEvent | undefined
  let last: SessionEvent | undefined
  const see = (event: SessionEvent) => {
    first ??= event
    last = event
  }
  const { findings } = await readWhole(id, path, file, { event: see })
  const damage = findings.find(isDamage)
  const cwd = first?.type === 'session/started' ? (first as SessionEvent<'session/started'>).data.cwd : ''
  const told = { id, cwd, startedAt: first?.at ?? 0, path, ...(damage && { damage }) }
  return last ? { ...told, last: { seq: last.seq, at: last.at } } : told
}

function startOf(bytes: Buffer): SessionEvent<'session/started'> | undefined {
  const end = bytes.indexOf(LF)
  const first = end < 0 ? undefined : decodeRecord(bytes.subarray(0, end))
  if (!first || first instanceof Problem || first.type !== 'session/started') return undefined
  return first as SessionEvent<'session/started'>
}

function unreadable(id: string, path: string, problem: string): SessionSummary {
  return { id, cwd: '', startedAt: 0, path, problem }
}
