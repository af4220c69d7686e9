/** Owns the JSONL store: one folder per session. */
import { isDiskError, isSluiceError, type DiskFile, type World } from '@sluice/base'
import {
  type OpenedLog,
  type SessionEvent,
  type SessionLog,
  type SessionStore,
  type SessionSummary,
  sessionErrors,
} from '@sluice/session'
import { codeOf } from './disk.ts'
import { storeErrors } from './errors.ts'
import { type Layout, layoutOf } from './layout.ts'
import { type Lock, sweep, takeLock } from './lock.ts'
import { JsonlLog, ReadOnlyLog } from './log.ts'
import { type Scan, scanLog } from './scan.ts'
import { summaries } from './summary.ts'

class JsonlStore implements SessionStore {
  readonly kind = 'jsonl'
  private readonly world: World
  private readonly root: string

  constructor(world: World, root: string) {
    this.world = world
    this.root = root
  }

  async create(id: string): Promise<SessionLog> {
    const layout = layoutOf(this.root, id)
    if (await this.exists(layout)) throw sessionErrors('SESSION_EXISTS', { id })
    return new JsonlLog(this.world, id, layout, {}, -1)
  }

  async open(id: string, mode: 'write' | 'read'): Promise<OpenedLog> {
    const layout = layoutOf(this.root, id)
    try {
      return mode === 'write' ? await this.openToWrite(id, layout) : await this.openToRead(id, layout)
    } catch (error) {
      if (isSluiceError(error)) throw error
      if (isDiskError(error, 'ENOENT')) throw sessionErrors('SESSION_NOT_FOUND', { id }, { cause: error })
      throw storeErrors('STORE_UNREADABLE', { path: layout.events, code: codeOf(error) }, { cause: error })
    }
  }

  async list(): Promise<SessionSummary[]> {
    try {
      return await summaries(this.world, this.root)
    } catch (error) {
      if (isDiskError(error, 'ENOENT')) return []
      throw storeErrors('STORE_UNREADABLE', { path: this.root, code: codeOf(error) }, { cause: error })
    }
  }

  private async exists(layout: Layout): Promise<boolean> {
    try {
      await this.world.disk.lstat(layout.events)
      return true
    } catch (error) {
      if (isDiskError(error, 'ENOENT')) return false
      throw storeErrors('STORE_UNREADABLE', { path: layout.events, code: codeOf(error) }, { cause: error })
    }
  }

  private async openToRead(id: string, layout: Layout): Promise<OpenedLog> {
    const file = await this.openFile(id, layout, false)
    try {
      const { events, scan } = await read(id, file)
      return { log: new ReadOnlyLog(this.world, layout), events, findings: scan.findings, writable: false }
    } finally {
      await file.close()
    }
  }

  private async openToWrite(id: string, layout: Layout): Promise<OpenedLog> {
    const { world } = this
    // Looked at first, so that nothing is made beside something that is no log.
    await (await this.openFile(id, layout, false)).close()
    const lock = await takeLock(world, id, layout)
    let file: DiskFile | undefined
    try {
      await sweep(world, layout)
      file = await this.openFile(id, layout, true)
      // What is read below is built upon, so it has to be on disk.
      await file.datasync()
      const { events, scan } = await read(id, file)
      const damage = scan.findings.find((finding) => finding.kind !== 'torn-tail')
      if (damage) {
        await release(file, lock)
        return { log: new ReadOnlyLog(world, layout), events, findings: scan.findings, writable: false }
      }
      const stat = await file.stat()
      const start = { existing: { file, lock, end: scan.end, stat } }
      const log = new JsonlLog(world, id, layout, start, events.at(-1)?.seq ?? -1)
      return { log, events, findings: scan.findings, writable: true }
    } catch (error) {
      await release(file, lock)
      throw error
    }
  }

  /** Never waits for a FIFO, never follows a link. */
  private async openFile(id: string, layout: Layout, write: boolean): Promise<DiskFile> {
    const options = { read: true, write, noFollow: true, nonBlocking: true }
    const file = await this.world.disk.open(layout.events, options).catch((error: unknown) => {
      if (isDiskError(error, 'EISDIR')) throw sessionErrors('SESSION_NOT_A_LOG', { id, detail: 'it is a directory' })
      if (isDiskError(error, 'ELOOP')) throw sessionErrors('SESSION_NOT_A_LOG', { id, detail: 'it is a symlink' })
      if (isDiskError(error, 'ENXIO'))
        throw sessionErrors('SESSION_NOT_A_LOG', { id, detail: 'it is a fifo or socket' })
      throw error
    })
    const { kind } = await file.stat()
    if (kind === 'file') return file
    await file.close()
    throw sessionErrors('SESSION_NOT_A_LOG', { id, detail: `it is a ${kind}` })
  }
}

/** @throws SESSION_NEWER_FORMAT, SESSION_NOT_A_LOG */
async function read(id: string, file: DiskFile): Promise<{ events: SessionEvent[]; scan: Scan }> {
  const events: SessionEvent[] = []
  const scan = await scanLog(file, (event) => events.push(event))
  const format = formatOf(events[0], scan.badStart)
  if (format !== undefined && format > 1) throw sessionErrors('SESSION_NEWER_FORMAT', { id, format })
  if (events.length === 0) {
    const detail = scan.size === 0 ? 'it is empty' : 'it holds no readable event'
    throw sessionErrors('SESSION_NOT_A_LOG', { id, detail })
  }
  return { events, scan }
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

async function release(file: DiskFile | undefined, lock: Lock): Promise<void> {
  await file?.close().catch(() => {})
  await lock.release()
}

/** Sessions below `root`, an absolute path. Nothing is made there before the first write. */
export function jsonlStore(world: World, root: string): SessionStore {
  return new JsonlStore(world, root)
}
