/** Owns opening the log file of a session and reading its events. */
import { type Disk, type DiskFile, isDiskError } from '@sluice/base'
import { type SessionEvent, sessionErrors } from '@sluice/session'
import type { Layout } from './layout.ts'
import { type Scan, scanLog, type Visit } from './scan.ts'

/** Never waits for a FIFO, never follows a link.
 *  @throws SESSION_NOT_A_LOG, and DiskError */
export async function openLogFile(disk: Disk, id: string, layout: Layout, write: boolean): Promise<DiskFile> {
  const options = { read: true, write, noFollow: true, nonBlocking: true }
  const file = await disk.open(layout.events, options).catch((error: unknown) => {
    const detail = notAFile.get(isDiskError(error) ? error.code : '')
    if (detail === undefined) throw error
    throw sessionErrors('SESSION_NOT_A_LOG', { id, path: layout.events, detail }, { cause: error })
  })
  const { kind } = await file.stat()
  if (kind === 'file') return file
  await file.close()
  throw sessionErrors('SESSION_NOT_A_LOG', { id, path: layout.events, detail: `it is a ${kind}` })
}

const notAFile = new Map([
  ['EISDIR', 'it is a directory'],
  ['ELOOP', 'it is a symlink'],
  ['ENXIO', 'it is a fifo or socket'],
])

/** Shows every event of the file.
 *  @throws SESSION_NEWER_FORMAT, SESSION_NOT_A_LOG */
export async function readWhole(id: string, path: string, file: DiskFile, visit: Visit): Promise<Scan> {
  let first: SessionEvent | undefined
  const event: Visit['event'] = (each, line) => {
    first ??= each
    visit.event(each, line)
  }
  const scan = await scanLog(file, { ...visit, event })
  const format = formatOf(first, scan.badStart)
  if (format !== undefined && format > 1) throw sessionErrors('SESSION_NEWER_FORMAT', { id, path, format })
  if (!first) {
    const detail = scan.size === 0 ? 'it is empty' : 'it holds no readable event'
    throw sessionErrors('SESSION_NOT_A_LOG', { id, path, detail })
  }
  return scan
}

/** A newer format may have other lines, but says what it is in the first one. */
function formatOf(first: SessionEvent | undefined, badStart: string | undefined): number | undefined {
  try {
    const start = (badStart === undefined ? first : JSON.parse(badStart)) as Partial<SessionEvent> | undefined
    if (start?.type !== 'session/started') return undefined
    const { format } = start.data as { format?: unknown }
    return typeof format === 'number' ? format : undefined
  } catch {
    return undefined
  }
}
