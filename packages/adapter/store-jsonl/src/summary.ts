/** Owns what a list of sessions shows: read from the beginning and the end of each log, not from the whole. */
import type { DiskFile, World } from '@sluice/base'
import type { SessionEvent, SessionSummary } from '@sluice/session'
import { readAll } from './disk.ts'
import { layoutOf } from './layout.ts'
import { readEnd } from './log-end.ts'
import { decodeRecord, LF, Problem } from './record.ts'

/** Bytes in which the first record must end. */
const FIRST_BYTES_MAX = 64 << 10
/** Logs looked at together. */
const LOOKS_MAX = 16

/** Every session below `root`, newest first. One that cannot be read says so. */
export async function summaries(world: World, root: string): Promise<SessionSummary[]> {
  const entries = await world.disk.readdir(root)
  const ids = entries
    .filter((entry) => entry.kind === 'directory' && !entry.name.startsWith('.'))
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

async function summaryOf(world: World, root: string, id: string): Promise<SessionSummary | undefined> {
  const { disk } = world
  const path = layoutOf(root, id).events
  try {
    const file = await disk.open(path, { read: true, noFollow: true, nonBlocking: true })
    try {
      const { kind, size } = await file.stat()
      if (kind !== 'file') return unreadable(id, path, `a ${kind} stands in place of the log`)
      const start = startOf(await readAll(file, Math.min(size, FIRST_BYTES_MAX)))
      if (!start) return unreadable(id, path, 'the log does not begin with a readable record')
      return await summed(id, path, start, file, size)
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = (error as { code?: unknown }).code
    // A folder whose session never came to its first write.
    if (code === 'ENOENT') return undefined
    return unreadable(id, path, `it cannot be read (${String(code)})`)
  }
}

async function summed(
  id: string,
  path: string,
  { at: startedAt, data: { cwd, format } }: SessionEvent<'session/started'>,
  file: DiskFile,
  size: number,
): Promise<SessionSummary> {
  if (typeof format === 'number' && format > 1) {
    return unreadable(id, path, `its format ${String(format)} is newer than this version reads`)
  }
  const { last, damage } = await readEnd(file, size)
  return { id, cwd, startedAt, path, ...(last && { last }), ...(damage && { damage }) }
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
