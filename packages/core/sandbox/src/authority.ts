/** Owns finding the files below a folder that grant authority. */
import { posix } from 'node:path'
import type { Disk } from '@sluice/base'
import { AUTHORITY_PLACES, COMPOSITION } from '@sluice/fs'
import { realOf } from './real-path.ts'
import { type Granting, repositoryPlaces } from './repository.ts'

/** Folders that are looked into, those near the root first: 25 to 50 µs each. */
const FOLDERS_MAX = 5_000

/** Paths that are protected; more would be more than a program can be started with. */
const PATHS_MAX = 2_000

/** Never looked into: large, and nothing in them is used for its own folder. */
const skipped = new Set(['node_modules', '.git'])

export interface Authority extends Granting {
  /** What was there; a link with what it says, so that another in its place is another. */
  readonly found: readonly string[]
  /** Some folders were not looked into. */
  readonly cut: boolean
}

/** Those that could come into being directly below `root`, and in deeper folders those that are there. */
export async function findAuthority(disk: Disk, root: string): Promise<Authority> {
  const atRoot = [...AUTHORITY_PLACES.filter((place) => place !== '.git'), COMPOSITION]
  const paths = new Set(atRoot.map((place) => posix.join(root, place)))
  const standIns = new Map<string, string>()
  const found: string[] = []
  let level = [root]
  let left = FOLDERS_MAX
  let cut = false
  while (level.length > 0) {
    const folders = level.slice(0, left)
    cut ||= folders.length < level.length
    left -= folders.length
    const listed = await Promise.all(folders.map((folder) => disk.readdir(folder).catch(() => [])))
    level = []
    for (const [i, folder] of folders.entries()) {
      for (const { name, kind } of listed[i] ?? []) {
        const path = posix.join(folder, name)
        if (kind === 'directory' && !skipped.has(name)) level.push(path)
        if (!isAuthority(name) && !(folder === root && isComposition(name))) continue
        if (paths.size >= PATHS_MAX) {
          cut = true
          continue
        }
        found.push(kind === 'symlink' ? `${path} -> ${await disk.readlink(path).catch(() => '')}` : path)
        if (name !== '.git' || kind === 'file') {
          paths.add(path)
          continue
        }
        const repository = await repositoryPlaces(disk, await realOf(disk, path))
        for (const each of repository.paths) paths.add(each)
        for (const [each, content] of repository.standIns) standIns.set(each, content)
      }
    }
  }
  return { paths: [...paths], standIns, found, cut }
}

function isAuthority(name: string): boolean {
  return (AUTHORITY_PLACES as readonly string[]).includes(name)
}

function isComposition(name: string): boolean {
  return name === COMPOSITION || /^sluice\..+\.yml$/.test(name)
}
