/** Owns the operations of the simulated disk: the Disk port, each call resolved on the volume in memory. */
import { type Disk, type FileStat, isDiskError, type OpenOptions } from '@sluice/base'
import type { DiskCore } from './disk-core.ts'
import type { DiskOp } from './faults.ts'
import { SimFile } from './sim-file.ts'
import type { Inode } from './volume.ts'
import { diskError, type Place, walk } from './walk.ts'

export class DiskPort implements Disk {
  protected readonly core: DiskCore

  protected constructor(core: DiskCore) {
    this.core = core
  }

  async open(path: string, options: OpenOptions): Promise<SimFile> {
    const inode = await this.core.step('open', path, () => this.openInode(path, options))
    // A FIFO without a peer waits for ever, which is what a careless reader must be shown.
    if (inode.kind === 'fifo' && !options.nonBlocking) return new Promise(() => {})
    this.core.openFiles++
    return new SimFile(this.core, inode, path, options)
  }

  private openInode(path: string, options: OpenOptions): Inode {
    const { create, exclusive, write, truncate, noFollow } = options
    const fail = (code: string) => diskError(code, 'open', path)
    if (truncate && !write) throw fail('EINVAL')
    const place = this.walk(path, 'open', noFollow || (create && exclusive) ? 'parents' : 'leaf')
    let inode = place.inode
    if (inode && create && exclusive) throw fail('EEXIST')
    if (inode?.kind === 'symlink') throw fail('ELOOP')
    if (!inode) {
      if (!create) throw fail('ENOENT')
      if (place.wantsDirectory) throw fail('EISDIR')
      inode = this.makeEntry('create', path, place, 'file', (options.mode ?? 0o666) & ~this.core.settings.umask)
    } else {
      if (inode.kind === 'directory' && (write || create)) throw fail('EISDIR')
      if (inode.kind === 'socket' || (inode.kind === 'fifo' && write && options.nonBlocking)) throw fail('ENXIO')
      if (write) this.core.assertNotReadOnly('open', path)
      if (options.read || !write) this.core.require(inode, 'read', 'open', path)
      if (write) this.core.require(inode, 'write', 'open', path)
      if (truncate) this.core.resize(inode, path, 0)
    }
    return inode
  }

  stat(path: string): Promise<FileStat> {
    return this.core.step('stat', path, () => this.core.statOf(this.existing(path, 'stat', 'leaf').inode))
  }

  lstat(path: string): Promise<FileStat> {
    return this.core.step('lstat', path, () => this.core.statOf(this.existing(path, 'lstat', 'parents').inode))
  }

  mtimes(paths: readonly string[]): Promise<(number | undefined)[]> {
    const timeOf = (path: string) =>
      this.lstat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => undefined,
      )
    return Promise.all(paths.map(timeOf))
  }

  realpath(path: string): Promise<string> {
    return this.core.step('realpath', path, () => this.existing(path, 'realpath', 'leaf').place.path)
  }

  readlink(path: string): Promise<string> {
    return this.core.step('readlink', path, () => {
      const { inode } = this.existing(path, 'readlink', 'parents')
      if (inode.kind !== 'symlink') throw diskError('EINVAL', 'readlink', path)
      return inode.target
    })
  }

  readdir(path: string): ReturnType<Disk['readdir']> {
    return this.core.step('readdir', path, () => {
      const { inode } = this.existing(path, 'readdir', 'leaf')
      if (inode.kind !== 'directory') throw diskError('ENOTDIR', 'readdir', path)
      this.core.require(inode, 'read', 'readdir', path)
      return [...inode.entries.values()].map(({ name, ino }) => ({ name, kind: this.core.volume.inode(ino).kind }))
    })
  }

  mkdir(path: string, options: { readonly recursive?: boolean; readonly mode?: number } = {}): Promise<void> {
    const mode = (options.mode ?? 0o777) & ~this.core.settings.umask
    return this.core.step('mkdir', path, () => {
      if (options.recursive) this.makeDirectories(path.replace(/(?!^)\/+$/, ''), mode, 'leaf')
      else this.makeDirectory(path, mode)
    })
  }

  private makeDirectory(path: string, mode: number): void {
    const place = this.walk(path, 'mkdir', 'parents')
    if (place.inode) throw diskError('EEXIST', 'mkdir', path)
    this.makeEntry('mkdir', path, place, 'directory', mode)
  }

  /** As Node does it: try, then the parent, then again; what is in the way is looked at afterwards. */
  private makeDirectories(path: string, mode: number, position: 'leaf' | 'parent'): void {
    try {
      return this.makeDirectory(path, mode)
    } catch (error) {
      if (!isDiskError(error) || !['ENOENT', 'EEXIST', 'ENOTDIR', 'ELOOP'].includes(error.code)) throw error
      if (error.code !== 'ENOENT') return this.assertDirectory(path, error.code === 'EEXIST' ? position : 'leaf')
    }
    this.makeDirectories(path.slice(0, path.lastIndexOf('/')) || '/', mode, 'parent')
    this.makeDirectories(path, mode, position)
  }

  private assertDirectory(path: string, position: 'leaf' | 'parent'): void {
    let kind: string | undefined
    try {
      kind = this.existing(path, 'mkdir', 'leaf').inode.kind
    } catch (error) {
      if (position === 'leaf') throw error
    }
    if (kind !== 'directory') throw diskError(position === 'leaf' ? 'EEXIST' : 'ENOTDIR', 'mkdir', path)
  }

  rename(from: string, to: string): Promise<void> {
    return this.core.step('rename', from, () => {
      const fail = (code: string) => diskError(code, 'rename', from)
      const source = this.walk(from, 'rename', 'parents')
      const target = this.walk(to, 'rename', 'parents')
      const there = target.inode
      const { inode } = source
      if (!inode) throw fail('ENOENT')
      const move = [
        { dir: source.dir.ino, name: source.name, ino: undefined },
        { dir: target.dir.ino, name: lastName(to), ino: inode.ino },
      ]
      const isSameEntry =
        source.dir === target.dir && this.core.volume.key(source.name) === this.core.volume.key(target.name)
      if (there === inode && !(isSameEntry && source.name !== lastName(to))) return
      if (target.above.includes(inode.ino)) throw fail('EINVAL')
      if (there && source.above.includes(there.ino)) throw fail('ENOTEMPTY')
      if (inode.kind === 'directory') {
        if (there && there.kind !== 'directory') throw fail('ENOTDIR')
        if (there && there !== inode && there.entries.size > 0) throw fail('ENOTEMPTY')
      } else if (there?.kind === 'directory') throw fail('EISDIR')
      else if (target.wantsDirectory) throw fail('ENOTDIR')
      this.core.setNames('rename', to, move)
    })
  }

  link(from: string, to: string): Promise<void> {
    return this.core.step('link', from, () => {
      const { inode } = this.existing(from, 'link', 'parents')
      const place = this.absent(to, 'link')
      if (inode.kind === 'directory') throw diskError('EPERM', 'link', from)
      this.core.setNames('link', to, [{ dir: place.dir.ino, name: place.name, ino: inode.ino }])
    })
  }

  symlink(target: string, path: string): Promise<void> {
    return this.core.step('symlink', path, () => {
      if (target === '') throw diskError('ENOENT', 'symlink', path)
      this.makeEntry('symlink', path, this.absent(path, 'symlink'), 'symlink', 0o777, target)
    })
  }

  unlink(path: string): Promise<void> {
    return this.core.step('unlink', path, () => {
      const { place, inode } = this.existing(path, 'unlink', 'parents')
      if (inode.kind === 'directory') throw diskError('EISDIR', 'unlink', path)
      this.core.setNames('unlink', path, [{ dir: place.dir.ino, name: place.name, ino: undefined }])
    })
  }

  rmdir(path: string): Promise<void> {
    return this.core.step('rmdir', path, () => {
      const { place, inode } = this.existing(path, 'rmdir', 'parents')
      if (inode.kind !== 'directory') throw diskError('ENOTDIR', 'rmdir', path)
      if (inode.entries.size > 0) throw diskError('ENOTEMPTY', 'rmdir', path)
      this.core.setNames('rmdir', path, [{ dir: place.dir.ino, name: place.name, ino: undefined }])
    })
  }

  syncDir(path: string): Promise<void> {
    const { mark } = this.core
    return this.core.step('syncDir', path, () => {
      const { inode } = this.existing(path, 'syncDir', 'leaf')
      if (inode.kind !== 'directory') throw diskError('ENOTDIR', 'syncDir', path)
      this.core.syncNames(inode, path, mark)
    })
  }

  private walk(path: string, op: string, follow: 'leaf' | 'parents'): Place {
    return walk(this.core.volume, path, op, this.core.settings.uid, follow)
  }

  private existing(path: string, op: string, follow: 'leaf' | 'parents'): { place: Place; inode: Inode } {
    const place = this.walk(path, op, follow)
    if (!place.inode) throw diskError('ENOENT', op, path)
    return { place, inode: place.inode }
  }

  private absent(path: string, op: string): Place {
    const place = this.walk(path, op, 'parents')
    if (place.inode) throw diskError('EEXIST', op, path)
    if (place.wantsDirectory) throw diskError('ENOENT', op, path)
    return place
  }

  private makeEntry(
    op: DiskOp,
    path: string,
    place: Place,
    kind: 'file' | 'directory' | 'symlink',
    mode: number,
    target?: string,
  ): Inode {
    const inode = this.core.makeInode(kind, mode, target)
    this.core.setNames(op, path, [{ dir: place.dir.ino, name: place.name, ino: inode.ino }])
    return inode
  }
}

function lastName(path: string): string {
  return (
    path
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? ''
  )
}
