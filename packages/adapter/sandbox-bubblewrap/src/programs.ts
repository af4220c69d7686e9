/** Owns finding programs. */
import { posix } from 'node:path'
import { type Disk, DiskError, type SpawnOptions } from '@sluice/base'

/** The first of the folders that holds an executable file of this name. */
export async function findProgram(disk: Disk, name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = posix.join(folder, name)
    const found = await disk.stat(path).catch(() => undefined)
    if (found?.kind === 'file' && (found.mode & 0o111) !== 0) return path
  }
  return undefined
}

/** What starting without confinement finds out: bubblewrap would start, and then fail in the name of the program. */
export async function assertStartable(disk: Disk, { file, cwd, env }: SpawnOptions): Promise<void> {
  const folder = await disk.stat(cwd)
  if (folder.kind !== 'directory') throw new DiskError('ENOTDIR', `ENOTDIR: working folder '${cwd}'`, cwd)
  const found = file.includes('/')
    ? await disk.stat(posix.resolve(cwd, file)).then(() => file)
    : await findProgram(disk, file, (env['PATH'] ?? '/usr/bin:/bin').split(':'))
  if (found === undefined) throw new DiskError('ENOENT', `ENOENT: program '${file}'`, file)
}
