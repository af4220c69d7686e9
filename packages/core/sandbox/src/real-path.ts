/** Owns the real path of what may not be there. */
import { posix } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'

/** The real path of the deepest existing ancestor, plus the rest. */
export async function realOf(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.realpath(path)
  } catch (error) {
    const above = posix.dirname(path)
    if (!isDiskError(error) || above === path) throw error
    return posix.join(await realOf(disk, above), posix.basename(path))
  }
}
