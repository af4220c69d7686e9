/** Owns the folders for temporary files of confined processes. */
import { posix } from 'node:path'
import { type Disk, isDiskError, mintId, type World } from '@sluice/base'

export class Scratch {
  private readonly disk: Disk
  /** Holds the folders of all keys. */
  readonly root: string
  private made: Promise<void> | undefined
  private readonly byKey = new Map<string, Promise<string>>()
  private count = 0

  constructor(world: Pick<World, 'disk' | 'host' | 'random'>) {
    this.disk = world.disk
    this.root = posix.join(world.host.tempDir, mintId(world, 'sluice-sandbox'))
  }

  /** The folder of all starts with this key. */
  folder(key: string): Promise<string> {
    let folder = this.byKey.get(key)
    if (!folder) {
      folder = this.make('files')
      this.byKey.set(key, folder)
    }
    return folder
  }

  /** A path that was never given before, below a folder that only this user can enter. */
  async fresh(kind: string): Promise<string> {
    this.made ??= this.disk.mkdir(this.root, { mode: 0o700 })
    await this.made
    return posix.join(this.root, `${kind}-${++this.count}`)
  }

  async dispose(): Promise<void> {
    this.byKey.clear()
    if (this.made) await remove(this.disk, this.root)
  }

  private async make(kind: string): Promise<string> {
    const path = await this.fresh(kind)
    await this.disk.mkdir(path, { mode: 0o700 })
    return path
  }
}

/** Removes what can be removed; what a process made unreadable for itself stays. */
async function remove(disk: Disk, folder: string): Promise<void> {
  const entries = await disk.readdir(folder).catch(() => [])
  for (const { name, kind } of entries) {
    const path = posix.join(folder, name)
    await (kind === 'directory' ? remove(disk, path) : quiet(disk.unlink(path)))
  }
  await quiet(disk.rmdir(folder))
}

async function quiet(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!isDiskError(error)) throw error
  })
}
