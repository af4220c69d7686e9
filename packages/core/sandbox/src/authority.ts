/** Owns finding the files below a folder that grant authority. */
import { posix } from 'node:path'
import { type Disk, isDiskError } from '@sluice/base'
import { AUTHORITY_PLACES, COMPOSITION } from '@sluice/fs'
import { realOf } from './real-path.ts'
import type { Protection } from './protection.ts'
import { repositoryPlaces } from './repository.ts'

/** Folders that are looked into, those near the root first: 25 to 50 µs each. */
const FOLDERS_MAX = 5_000

/** Never looked into: large, and nothing in them is used for its own folder. */
const skipped = new Set(['node_modules', '.git'])

export interface Authority {
  /** What was there and is protected; a link with what it says, so that another in its place is another. */
  readonly found: readonly string[]
  /** Some folders were not looked into, or something is not protected. */
  readonly cut: boolean
}

/** Protects those that could come into being directly below `root`, and in deeper folders those that are there. */
export async function findAuthority(disk: Disk, root: string, protection: Protection): Promise<Authority> {
  const atRoot = [...AUTHORITY_PLACES.filter((place) => place !== '.git'), COMPOSITION]
  let cut = !atRoot.every((place) => protection.add(root, posix.join(root, place)))
  const found: string[] = []
  let level = [root]
  let left = FOLDERS_MAX
  while (level.length > 0) {
    const folders = level.slice(0, left)
    cut ||= folders.length < level.length
    left -= folders.length
    const listed = await Promise.all(folders.map((folder) => entriesOf(disk, folder)))
    level = []
    for (const [i, folder] of folders.entries()) {
      cut ||= listed[i] === undefined
      for (const { name, kind } of listed[i] ?? []) {
        const path = posix.join(folder, name)
        if (kind === 'directory' && !skipped.has(name)) level.push(path)
        if (!isAuthority(name) && !(folder === root && isComposition(name))) continue
        const places = name === '.git' && kind !== 'file' ? await placesOf(disk, path) : [[path] as const]
        const kept = places.filter(([place, content]) => protection.add(root, place, content))
        cut ||= kept.length < places.length
        if (kept.length > 0) found.push(kind === 'symlink' ? `${path} -> ${await leadOf(disk, path)}` : path)
      }
    }
  }
  return { found, cut }
}

type Place = readonly [path: string, content?: string]

async function placesOf(disk: Disk, git: string): Promise<Place[]> {
  const { paths, standIns } = await repositoryPlaces(disk, await realOf(disk, git))
  return paths.map((path) => [path, standIns.get(path)] as Place)
}

/** None of a folder that is gone; nothing where it cannot be looked into, as at a name that is no text. */
async function entriesOf(disk: Disk, folder: string): Promise<Awaited<ReturnType<Disk['readdir']>> | undefined> {
  try {
    return await disk.readdir(folder)
  } catch (error) {
    return isDiskError(error, 'ENOENT') && !folder.includes('\ufffd') ? [] : undefined
  }
}

const leadOf = (disk: Disk, link: string) => disk.readlink(link).catch(() => '')

function isAuthority(name: string): boolean {
  return (AUTHORITY_PLACES as readonly string[]).includes(name)
}

function isComposition(name: string): boolean {
  return name === COMPOSITION || /^sluice\..+\.yml$/.test(name)
}
