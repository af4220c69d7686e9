/** Owns which files of a git repository decide what git runs, or where it looks for what it runs. */
import { posix } from 'node:path'
import type { Disk } from '@sluice/base'

/** Read by git wherever they stand, so that a folder in their place would be an error: by name what they hold while they are not
 *  needed. The first is where configuration and hooks are looked for, here as without it. */
const STAND_INS = { commondir: '.\n', 'config.worktree': '' }

/** Folders below `modules` that are looked into; the names of submodules may hold slashes. */
const MODULE_FOLDERS_MAX = 200

export interface Granting {
  readonly paths: readonly string[]
  /** Content by path. */
  readonly standIns: ReadonlyMap<string, string>
}

/** Those of the repository at `git`, and of the worktrees and submodules that it holds. */
export async function repositoryPlaces(disk: Disk, git: string): Promise<Granting> {
  const own = [git, ...(await modules(disk, posix.join(git, 'modules')))]
  const worktrees = await Promise.all(own.map((folder) => subfolders(disk, posix.join(folder, 'worktrees'))))
  const standIns = [...own, ...worktrees.flat()].flatMap((folder) =>
    Object.entries(STAND_INS).map(([name, content]) => [posix.join(folder, name), content] as const),
  )
  const paths = own.flatMap((folder) => [posix.join(folder, 'config'), posix.join(folder, 'hooks')])
  return { paths: [...paths, ...standIns.map(([path]) => path)], standIns: new Map(standIns) }
}

async function modules(disk: Disk, root: string): Promise<string[]> {
  const found: string[] = []
  const queue = await subfolders(disk, root)
  for (let seen = 0; queue.length > 0 && seen < MODULE_FOLDERS_MAX; seen++) {
    const folder = queue.shift() as string
    const inner = await subfolders(disk, folder)
    // A repository has these; what is below `modules` and has not is a part of a name.
    const isRepository = ['objects', 'refs'].every((name) => inner.includes(posix.join(folder, name)))
    if (isRepository) found.push(folder)
    queue.push(...(isRepository ? await subfolders(disk, posix.join(folder, 'modules')) : inner))
  }
  return found
}

async function subfolders(disk: Disk, folder: string): Promise<string[]> {
  const entries = await disk.readdir(folder).catch(() => [])
  return entries.filter(({ kind }) => kind === 'directory').map(({ name }) => posix.join(folder, name))
}
