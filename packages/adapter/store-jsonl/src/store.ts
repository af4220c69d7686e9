/** Owns the JSONL store: one folder per session. */
import { join } from 'node:path'
import { type DiskFile, isDiskError, isSluiceError, type World } from '@sluice/base'
import {
  type BlobState,
  type LogFinding,
  type LogHolder,
  type OpenedLog,
  type OpenLogOptions,
  type RepairedLog,
  type SessionEvent,
  type SessionLog,
  type SessionStore,
  type SessionSummary,
  sessionErrors,
} from '@sluice/session'
import { blobState } from './blobs.ts'
import { codeOf, removeTree, replaceByCopy, statIfThere } from './disk.ts'
import { storeErrors } from './errors.ts'
import { type Kept, readIndex } from './index-file.ts'
import { type Layout, layoutOf } from './layout.ts'
import { holderOfLock, sweep, takeLock } from './lock.ts'
import { JsonlLog, ReadOnlyLog } from './log.ts'
import { openLogFile, readWhole } from './open-file.ts'
import { rewrite } from './repair.ts'
import { isDamage, type Scan, scanLog } from './scan.ts'
import { summaries, summaryOf } from './summary.ts'

const REMOVED = '.removed-'

type Found = Pick<OpenedLog, 'events' | 'checkpoint'> & { readonly scan: Scan; readonly index?: Kept }

class JsonlStore implements SessionStore {
  readonly kind = 'jsonl'
  private readonly world: World
  private readonly root: string

  constructor(world: World, root: string) {
    this.world = world
    this.root = root
  }

  create(id: string): Promise<SessionLog> {
    return this.on(id, async (layout) => {
      if (await statIfThere(this.world.disk, layout.events)) throw sessionErrors('SESSION_EXISTS', { id })
      return new JsonlLog(this.world, id, layout, {}, -1)
    })
  }

  open(id: string, mode: 'write' | 'read', options: OpenLogOptions = {}): Promise<OpenedLog> {
    return this.on(id, async (layout) => {
      if (mode === 'write') return this.openToWrite(id, layout, options)
      const file = await openLogFile(this.world.disk, id, layout, false)
      try {
        const { events, scan } = await this.readFromStart(id, layout, file)
        return { log: new ReadOnlyLog(this.world, layout), events, findings: scan.findings, writable: false }
      } finally {
        await file.close()
      }
    })
  }

  scan(id: string, visit: (event: SessionEvent, line: number) => void): Promise<readonly LogFinding[]> {
    return this.on(id, async (layout) => {
      const file = await openLogFile(this.world.disk, id, layout, false)
      try {
        return (await readWhole(id, layout.events, file, { event: visit })).findings
      } finally {
        await file.close()
      }
    })
  }

  async list(): Promise<SessionSummary[]> {
    try {
      return await summaries(this.world, this.root)
    } catch (error) {
      if (isDiskError(error, 'ENOENT')) return []
      throw storeErrors('STORE_UNREADABLE', { path: this.root, code: codeOf(error) }, { cause: error })
    }
  }

  repair(id: string, accepts: (event: SessionEvent) => boolean = () => true): Promise<RepairedLog> {
    return this.locked(id, async (layout) => {
      const { disk } = this.world
      const { events, findings } = await this.open(id, 'read')
      const good = events.filter(accepts)
      if (good.length === events.length && findings.length === 0) return { findings, lost: 0 }
      return rewrite(disk, id, layout, good, events.at(-1)?.seq ?? -1, findings)
    })
  }

  blobState(id: string, digest: string): Promise<BlobState> {
    return this.on(id, (layout) => blobState(this.world.disk, layout.blobs, digest))
  }

  async remove(id: string, last?: number): Promise<void> {
    try {
      await this.locked(id, (layout) => this.erase(id, layout, last))
    } catch (error) {
      if (!isFull(error)) throw error
      // A lock takes room too, which others do not have either: what is not held now stays so.
      await this.on(id, async (layout) => {
        const holder = await holderOfLock(this.world, layout)
        if (holder) throw sessionErrors('SESSION_LOCKED', { id, ...holder }, { cause: error })
        await writing(layout, () => this.erase(id, layout, last))
      })
    }
  }

  private async erase(id: string, layout: Layout, last: number | undefined): Promise<void> {
    const { disk } = this.world
    if (last !== undefined && (await summaryOf(this.world, this.root, id))?.last?.seq !== last)
      throw sessionErrors('SESSION_CHANGED', { id })
    // Gone at once under its name, whatever happens to the rest.
    const gone = join(this.root, `${REMOVED}${id}`)
    await removeTree(disk, gone)
    await disk.rename(layout.dir, gone)
    await disk.syncDir(this.root)
    // With what an earlier removal did not come to.
    for (const { name } of await disk.readdir(this.root)) {
      if (name.startsWith(REMOVED)) await removeTree(disk, join(this.root, name))
    }
  }

  holder(id: string): Promise<LogHolder | undefined> {
    return this.on(id, async (layout) => {
      await this.world.disk.lstat(layout.events)
      return holderOfLock(this.world, layout)
    })
  }

  unlock(id: string, { token }: LogHolder): Promise<void> {
    const { disk } = this.world
    const replace = async (layout: Layout) => {
      const file = await openLogFile(disk, id, layout, false)
      try {
        // A holder that is not gone after all goes on writing to the old file, at places of its own.
        await replaceByCopy(disk, layout.events, file)
      } finally {
        await file.close()
      }
    }
    return this.locked(id, replace, token)
  }

  private async openToWrite(id: string, layout: Layout, options: OpenLogOptions): Promise<OpenedLog> {
    const { world } = this
    // Looked at first, so that nothing is made beside something that is no log.
    await (await openLogFile(world.disk, id, layout, false)).close()
    const lock = await writing(layout, () => takeLock(world, id, layout))
    let file: DiskFile | undefined
    let keepOpen = false
    try {
      file = await writing(layout, async () => {
        await sweep(world, layout)
        const opened = await openLogFile(world.disk, id, layout, true)
        // What is read below is built upon, so it has to be on disk.
        await opened.datasync()
        return opened
      })
      const { scan, index, ...found } = await this.read(id, layout, file, options)
      const { findings } = scan
      if (findings.some(isDamage)) return { log: new ReadOnlyLog(world, layout), ...found, findings, writable: false }
      const start = { existing: { file, lock, end: scan.end, stat: await file.stat() } }
      const last = found.events.at(-1)?.seq ?? found.checkpoint?.seq ?? -1
      keepOpen = true
      return { log: new JsonlLog(world, id, layout, start, last, index), ...found, findings, writable: true }
    } finally {
      if (!keepOpen) {
        await file?.close().catch(() => {})
        await lock.release()
      }
    }
  }

  private async read(id: string, layout: Layout, file: DiskFile, options: OpenLogOptions): Promise<Found> {
    const index = options.accepts && (await readIndex(this.world.disk, layout, file))
    if (!index || !options.accepts?.(index.state)) return this.readFromStart(id, layout, file)
    const { seq, offset, state } = index
    const events: SessionEvent[] = []
    const scan = await scanLog(file, { event: (event) => events.push(event) }, { offset, seq: seq + 1 })
    // Where the tail is not as it should be, the whole log tells better what is wrong.
    if (scan.findings.some(isDamage)) return this.readFromStart(id, layout, file)
    return { events, scan, checkpoint: { seq, state }, index }
  }

  private async readFromStart(id: string, layout: Layout, file: DiskFile): Promise<Found> {
    const events: SessionEvent[] = []
    const late: SessionEvent[] = []
    const visit = {
      event: (event: SessionEvent) => events.push(event),
      late: (event: SessionEvent) => late.push(event),
    }
    const scan = await readWhole(id, layout.events, file, visit)
    if (late.length === 0) return { events, scan }
    return { events: [...events, ...late].sort((a, b) => a.seq - b.seq), scan }
  }

  /** `gone` is the token of a holder on another host that keeps nothing any more. */
  private locked<T>(id: string, work: (layout: Layout) => Promise<T>, gone?: string): Promise<T> {
    return this.on(id, async (layout) => {
      await this.world.disk.lstat(layout.events)
      return writing(layout, async () => {
        const lock = await takeLock(this.world, id, layout, gone)
        try {
          return await work(layout)
        } finally {
          await lock.release()
        }
      })
    })
  }

  /** Gives every failure its code. */
  private async on<T>(id: string, work: (layout: Layout) => Promise<T>): Promise<T> {
    const layout = layoutOf(this.root, id)
    try {
      return await work(layout)
    } catch (error) {
      if (isSluiceError(error)) throw error
      // A file in the place of the folder is no session, and a list leaves it out too.
      if (isDiskError(error, 'ENOENT') || isDiskError(error, 'ENOTDIR')) {
        throw sessionErrors('SESSION_NOT_FOUND', { id }, { cause: error })
      }
      throw storeErrors('STORE_UNREADABLE', { path: layout.events, code: codeOf(error) }, { cause: error })
    }
  }
}

function isFull(error: unknown): boolean {
  if (!isSluiceError(error, 'STORE_UNWRITABLE')) return false
  return ['ENOSPC', 'EDQUOT'].includes((error.data as { code: string }).code)
}

async function writing<T>(layout: Layout, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isDiskError(error) || error.code === 'ENOENT') throw error
    throw storeErrors('STORE_UNWRITABLE', { path: layout.dir, code: error.code }, { cause: error })
  }
}

/** Sessions below `root`, an absolute path. Nothing is made there before the first write. */
export function jsonlStore(world: World, root: string): SessionStore {
  return new JsonlStore(world, root)
}
