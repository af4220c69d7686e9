/** Owns the disposable index of a session: how far its log is whole, the checkpoint there, and which file it belongs to. */
import { type Disk, type DiskFile, type FileStat, isDiskError } from '@sluice/base'
import type { Checkpoint } from '@sluice/session'
import { PRIVATE_FILE, readAll, readSmall, unlinkIfThere } from './disk.ts'
import type { Layout } from './layout.ts'
import type { Known } from './log-end.ts'
import { decodeLine, encodeRecord, frozen, LF, Problem } from './record.ts'

const VERSION = 2
/** A larger index is not worth reading. */
const INDEX_BYTES_MAX = 256 << 20
/** No seal is longer, nor the numbers that an index begins with. */
const SEAL_BYTES_MAX = 512
const BEGINNING = new RegExp(`^\\{"v":${VERSION},"seq":(\\d+),"offset":(\\d+),`)
/** Of the end of a line: its crc. */
const MARK = -11

/** The first line of an index that is there and fits the log: where it ends, and what tells it from others. */
export interface Kept {
  readonly bytes: number
  readonly mark: string
}

interface Index extends Checkpoint {
  readonly v: number
  /** Byte of the log after the record `seq`. */
  readonly offset: number
}

/** Not synced: an index that did not survive is no loss. It is not believed before it is sealed. */
export async function writeIndex(
  disk: Disk,
  layout: Layout,
  { seq, state }: Checkpoint,
  offset: number,
): Promise<Kept> {
  const index: Index = { v: VERSION, seq, offset, state }
  const line = encodeRecord(ascii(JSON.stringify(index)))
  const bytes = Buffer.from(line, 'latin1')
  const temporary = `${layout.index}.tmp`
  const file = await disk.open(temporary, { write: true, create: true, truncate: true, mode: PRIVATE_FILE })
  try {
    try {
      await file.write(bytes, 0)
    } finally {
      await file.close()
    }
    await disk.rename(temporary, layout.index)
  } catch (error) {
    await unlinkIfThere(disk, temporary).catch(() => {})
    throw error
  }
  return { bytes: bytes.length, mark: line.slice(MARK) }
}

/** Adds to an index what the log looks like now that it is closed with event `seq` and known to be whole. Without an index
 *  it stands alone. */
export async function sealIndex(
  disk: Disk,
  layout: Layout,
  kept: Kept | undefined,
  log: FileStat,
  seq: number,
): Promise<void> {
  const { bytes, mark } = kept ?? { bytes: 0, mark: '' }
  const seal = Buffer.from(encodeRecord(JSON.stringify({ seq, mark, ...looksOf(log) })))
  const make = kept ? {} : { create: true, mode: PRIVATE_FILE }
  const file = await disk.open(layout.index, { write: true, noFollow: true, nonBlocking: true, ...make })
  try {
    await file.write(seal, bytes)
    await file.truncate(bytes + seal.length)
  } finally {
    await file.close()
  }
}

/** How far the log was whole when it was written, as the end or the beginning of the index tells: little of it is read. */
export async function knownPlace(disk: Disk, layout: Layout): Promise<Known | undefined> {
  try {
    const file = await disk.open(layout.index, { read: true, noFollow: true, nonBlocking: true })
    try {
      const { kind, size } = await file.stat()
      return kind === 'file' ? ((await sealed(file, size)) ?? (await checkpointed(file))) : undefined
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isDiskError(error)) return undefined
    throw error
  }
}

async function sealed(file: DiskFile, size: number): Promise<Known | undefined> {
  const length = Math.min(size, SEAL_BYTES_MAX)
  const bytes = await readAll(file, length, size - length)
  const seal = decodeLine(bytes.subarray(bytes.lastIndexOf(LF, -2) + 1, -1))
  if (seal instanceof Problem) return undefined
  const { seq, size: offset } = seal as { seq?: unknown; size?: unknown }
  return isWhole(seq) && isWhole(offset) ? { seq, offset } : undefined
}

async function checkpointed(file: DiskFile): Promise<Known | undefined> {
  const text = (await readAll(file, SEAL_BYTES_MAX)).toString('latin1')
  const [, seq, offset] = BEGINNING.exec(text) ?? []
  return seq === undefined ? undefined : { seq: Number(seq), offset: Number(offset) }
}

/** The index, if it is whole, and the log is byte for byte the one that was closed with it. */
export async function readIndex(disk: Disk, layout: Layout, log: DiskFile): Promise<(Index & Kept) | undefined> {
  const content = await readSmall(disk, layout.index, INDEX_BYTES_MAX).catch((error: unknown) => {
    // The log says all that an index could.
    if (isDiskError(error)) return undefined
    throw error
  })
  if (!content) return undefined
  const bytes = content.indexOf(LF) + 1
  const mark = content.toString('latin1', bytes + MARK, bytes)
  const seal = decodeLine(content.subarray(bytes, -1))
  if (seal instanceof Problem) return undefined
  const { seq: _, ...looks } = seal as { seq?: unknown }
  if (JSON.stringify(looks) !== JSON.stringify({ mark, ...looksOf(await log.stat()) })) return undefined
  const index = indexOf(decodeLine(content.subarray(0, bytes - 1), 'latin1'))
  return index && { ...index, bytes, mark }
}

/** The same JSON in ASCII alone: that is read in a third of the time. */
function ascii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Whoever changes a file changes one of these: no program can set its ctime. */
function looksOf({ ino, size, mtimeMs, ctimeMs }: FileStat) {
  return { ino: `${ino}`, size, mtimeMs, ctimeMs }
}

function indexOf(value: object | Problem): Index | undefined {
  if (value instanceof Problem) return undefined
  const { v, seq, offset, state } = value as Partial<Index>
  if (v !== VERSION || !isWhole(seq) || !isWhole(offset) || state === undefined) return undefined
  return { v, seq, offset, state: frozen(state) }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
