/** Owns reading a composition file through the Disk port. */
import { type Disk, isDiskError, messageOf } from '@sluice/base'
import { composeErrors } from './errors.ts'
import { parseComposition } from './parse.ts'
import type { Composition } from './types.ts'

/** A longer file is no composition. */
export const COMPOSITION_BYTES_MAX = 1024 * 1024

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'it may not be read',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is no directory',
}

async function bytesOf(disk: Disk, file: string): Promise<Uint8Array> {
  const handle = await disk.open(file, { read: true, nonBlocking: true })
  try {
    const { size, kind } = await handle.stat()
    if (kind !== 'file') throw new Error(`it is a ${kind}`)
    if (size > COMPOSITION_BYTES_MAX) throw new Error(`it has ${size} bytes, more than ${COMPOSITION_BYTES_MAX}`)
    const bytes = new Uint8Array(size)
    let filled = 0
    while (filled < size) {
      const count = await handle.read(bytes.subarray(filled), filled)
      if (count === 0) break
      filled += count
    }
    return bytes.subarray(0, filled)
  } finally {
    await handle.close()
  }
}

/** The checked entries of the file at the absolute path `file`.
 *  @throws COMPOSE_UNREADABLE, COMPOSE_YAML, COMPOSE_SHAPE */
export async function readComposition(disk: Disk, file: string): Promise<Composition> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await bytesOf(disk, file))
  } catch (error) {
    const problem = (isDiskError(error) && reasons[error.code]) || messageOf(error)
    throw composeErrors('COMPOSE_UNREADABLE', { file, problem }, { cause: error })
  }
  return parseComposition(file, text)
}
