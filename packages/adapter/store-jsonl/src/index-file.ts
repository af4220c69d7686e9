/** Owns the disposable index of a session: a checkpoint, and the place in the log that it belongs to. */
import { type Disk, type DiskFile, isDiskError, type Json } from '@sluice/base'
import type { Checkpoint } from '@sluice/session'
import { PRIVATE_FILE, readAll, readSmall } from './disk.ts'
import type { Layout } from './layout.ts'
import { decodeLine, encodeRecord, frozen, MARK_BYTES, Problem } from './record.ts'
import type { Place } from './writer.ts'

const VERSION = 1
/** A larger index is not worth reading. */
const INDEX_BYTES_MAX = 256 << 20

interface Index extends Place {
  readonly v: number
  readonly seq: number
  readonly state: Json
}

/** Not synced: an index that did not survive is no loss. */
export async function writeIndex(disk: Disk, layout: Layout, checkpoint: Checkpoint, place: Place): Promise<void> {
  const { seq, state } = checkpoint
  const { offset, mark } = place
  const index: Index = { v: VERSION, seq, offset, mark, state }
  const temporary = `${layout.index}.tmp`
  const file = await disk.open(temporary, { write: true, create: true, truncate: true, mode: PRIVATE_FILE })
  try {
    await file.write(Buffer.from(encodeRecord(JSON.stringify(index))), 0)
  } finally {
    await file.close()
  }
  await disk.rename(temporary, layout.index)
}

/** The index, if it can be read, is whole, and the log still holds the record that it ends with. */
export async function readIndex(disk: Disk, layout: Layout, log: DiskFile): Promise<Index | undefined> {
  const bytes = await readSmall(disk, layout.index, INDEX_BYTES_MAX).catch((error: unknown) => {
    // The log says all that an index could.
    if (isDiskError(error)) return undefined
    throw error
  })
  const index = bytes && indexOf(decodeLine(bytes.subarray(0, -1)))
  if (!index) return undefined
  const found = await readAll(log, MARK_BYTES, index.offset - MARK_BYTES)
  return found.toString('latin1') === index.mark ? index : undefined
}

function indexOf(value: object | Problem): Index | undefined {
  if (value instanceof Problem) return undefined
  const { v, seq, offset, mark, state } = value as Partial<Index>
  if (v !== VERSION || !isWhole(seq) || !isWhole(offset) || offset < MARK_BYTES) return undefined
  if (typeof mark !== 'string' || state === undefined) return undefined
  return { v, seq, offset, mark, state: frozen(state) }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
