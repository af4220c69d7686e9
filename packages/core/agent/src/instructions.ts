/** Owns the `AGENTS.md` files of a project: which are read, in which order, and how much of them. */
import { dirname, join, relative, sep } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'
import { INSTRUCTIONS_HEAD, instructionsCut, instructionsOf } from './prompt.ts'

export const INSTRUCTIONS_FILE = 'AGENTS.md'
export const INSTRUCTIONS_BYTES_MAX = 32 * 1024
/** How many folders above the working folder are looked at. */
export const INSTRUCTIONS_DEPTH_MAX = 32

/** The text of every `AGENTS.md` from the root of the project (the folder with `.git`) to `cwd`; empty when there is none.
 *  A file that cannot be read, or that a link leads out of the project to, is left out. */
export async function readInstructions(disk: Disk, cwd: string): Promise<string> {
  const parts: string[] = []
  const folders = await foldersOf(disk, cwd)
  for (const folder of folders) {
    const path = join(folder, INSTRUCTIONS_FILE)
    const text = await readBounded(disk, path, folders[0] ?? cwd)
    if (text !== undefined && text.trim() !== '') parts.push(instructionsOf(path, text.trim()))
  }
  return parts.length === 0 ? '' : [INSTRUCTIONS_HEAD, ...parts].join('\n\n')
}

async function foldersOf(disk: Disk, cwd: string): Promise<readonly string[]> {
  const folders: string[] = []
  let folder = cwd
  for (let depth = 0; depth < INSTRUCTIONS_DEPTH_MAX; depth++) {
    folders.unshift(folder)
    if (await exists(disk, join(folder, '.git'))) return folders
    const parent = dirname(folder)
    if (parent === folder) break
    folder = parent
  }
  // Outside a project only the working folder itself speaks.
  return [cwd]
}

async function exists(disk: Disk, path: string): Promise<boolean> {
  return disk.stat(path).then(
    () => true,
    () => false,
  )
}

async function readBounded(disk: Disk, path: string, root: string): Promise<string | undefined> {
  try {
    const within = relative(await disk.realpath(root), await disk.realpath(path))
    if (within === '..' || within.startsWith(`..${sep}`)) return undefined
    const file = await disk.open(path, { read: true, nonBlocking: true })
    try {
      const { kind, size } = await file.stat()
      if (kind !== 'file') return undefined
      const bytes = new Uint8Array(Math.min(size, INSTRUCTIONS_BYTES_MAX))
      let length = 0
      while (length < bytes.length) {
        const count = await file.read(bytes.subarray(length), length)
        if (count === 0) break
        length += count
      }
      const text = new TextDecoder().decode(bytes.subarray(0, length))
      return size > INSTRUCTIONS_BYTES_MAX ? `${text}\n${instructionsCut(INSTRUCTIONS_BYTES_MAX)}` : text
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isDiskError(error)) return undefined
    throw error
  }
}
