/** Owns an open file of the simulated disk. */
import type { DiskFile, FileStat, OpenOptions } from '@sluice/base'
import type { DiskCore } from './disk-core.ts'
import type { Inode } from './volume.ts'
import { diskError } from './walk.ts'

export class SimFile implements DiskFile {
  private readonly core: DiskCore
  private readonly inode: Inode
  private readonly path: string
  private readonly options: OpenOptions
  private open = true

  constructor(core: DiskCore, inode: Inode, path: string, options: OpenOptions) {
    this.core = core
    this.inode = inode
    this.path = path
    this.options = options
  }

  stat(): Promise<FileStat> {
    return this.core.step('stat', this.path, () => {
      this.assertOpen('stat')
      return this.core.statOf(this.inode)
    })
  }

  read(into: Uint8Array, position: number): Promise<number> {
    return this.core.step('read', this.path, () => {
      this.assertOpen('read')
      if (this.options.write && !this.options.read) throw diskError('EBADF', 'read', this.path)
      if (this.inode.kind === 'directory') throw diskError('EISDIR', 'read', this.path)
      return this.inode.content.read(into, position)
    })
  }

  write(bytes: Uint8Array, position: number): Promise<void> {
    // The array is looked at when the write happens, as a kernel does: changing it before that is a mistake that shows.
    return this.core.step('write', this.path, () => {
      this.assertWritable('write')
      this.core.writeTo(this.inode, this.path, bytes, position)
    })
  }

  truncate(size: number): Promise<void> {
    return this.core.step('truncate', this.path, () => {
      this.assertOpen('truncate')
      if (!this.options.write) throw diskError('EINVAL', 'truncate', this.path)
      this.core.resize(this.inode, this.path, size)
    })
  }

  chmod(mode: number): Promise<void> {
    return this.core.step('chmod', this.path, () => {
      this.assertOpen('chmod')
      this.core.setMeta('chmod', this.inode, this.path, { mode: mode & 0o7777 })
    })
  }

  chown(uid: number, gid: number): Promise<void> {
    return this.core.step('chown', this.path, () => {
      this.assertOpen('chown')
      this.core.setMeta('chown', this.inode, this.path, { uid, gid })
    })
  }

  datasync(): Promise<void> {
    const mark = this.core.mark
    return this.core.step('datasync', this.path, () => {
      this.assertOpen('datasync')
      this.core.syncFile('datasync', this.inode, this.path, mark)
    })
  }

  sync(): Promise<void> {
    const mark = this.core.mark
    return this.core.step('sync', this.path, () => {
      this.assertOpen('sync')
      this.core.syncFile('sync', this.inode, this.path, mark)
    })
  }

  close(): Promise<void> {
    return this.core.step('close', this.path, () => {
      if (this.open) this.core.openFiles--
      this.open = false
    })
  }

  private assertOpen(op: string): void {
    if (!this.open) throw diskError('EBADF', op, this.path)
  }

  private assertWritable(op: string): void {
    this.assertOpen(op)
    if (!this.options.write) throw diskError('EBADF', op, this.path)
  }
}
