import { isDiskError } from '@sluice/base'
import { describe, expect, it } from 'vitest'
import { simWorld, turn } from '../src/index.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const PATH = '/proj/a'
const diskWith = (text: string) => simWorld({ files: { [PATH]: text } }).disk

describe('the simulated disk', () => {
  it('records its effects in order', async () => {
    const disk = diskWith('')
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('abc'), 0)
    await file.datasync()
    await disk.rename(PATH, '/proj/b')
    expect(disk.effects).toEqual([
      { op: 'write', path: PATH, bytes: 3 },
      { op: 'datasync', path: PATH },
      { op: 'rename', path: '/proj/b' },
    ])
    expect(disk.effectCount).toBe(3)
  })

  it('fails a chosen effect with a chosen code and changes nothing', async () => {
    const disk = diskWith('old')
    disk.failAt(2, 'EIO')
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('1'), 0)
    await expect(file.write(bytes('2'), 1)).rejects.toSatisfy((error) => isDiskError(error, 'EIO'))
    expect(disk.text(PATH)).toBe('1ld')
    await file.write(bytes('3'), 2)
    expect(disk.text(PATH)).toBe('1l3')
  })

  it('fails the next operations of a kind on a path, a write after some of its bytes', async () => {
    const disk = diskWith('')
    disk.failNext('write', 'ENOSPC', { path: PATH, partialBytes: 2, times: 2 })
    disk.failNext('readdir', 'EACCES')
    const other = await disk.open('/proj/b', { write: true, create: true })
    const file = await disk.open(PATH, { write: true })
    await other.write(bytes('fine'), 0)
    await expect(file.write(bytes('abcd'), 0)).rejects.toMatchObject({ code: 'ENOSPC', path: PATH })
    await expect(file.write(bytes('efgh'), 2)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(disk.text(PATH)).toBe('abef')
    await file.write(bytes('x'), 0)
    await expect(disk.readdir('/proj')).rejects.toMatchObject({ code: 'EACCES' })
    expect(await disk.readdir('/proj')).toHaveLength(2)
  })

  it('has lost what a failed sync was to write', async () => {
    const disk = diskWith('old')
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('lost and gone'), 0)
    disk.failNext('datasync', 'EIO')
    await expect(file.datasync()).rejects.toMatchObject({ code: 'EIO' })
    expect(disk.text(PATH)).toBe('old')
    await file.datasync()
    await file.write(bytes('gone'), 0)
    disk.failAt(disk.effectCount + 1, 'EIO')
    await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' })
    expect(disk.text(PATH)).toBe('old')
    expect(disk.afterCrash({ keep: 'all' }).text(PATH)).toBe('old')
  })

  it('keeps what was written while a sync failed', async () => {
    const disk = diskWith('old')
    const file = await disk.open(PATH, { write: true })
    await file.write(bytes('1'), 0)
    disk.failNext('datasync', 'EIO')
    const release = disk.hold('datasync')
    const syncing = file.datasync()
    await file.write(bytes('2'), 1)
    release()
    await expect(syncing).rejects.toMatchObject({ code: 'EIO' })
    expect(disk.text(PATH)).toBe('o2d')
  })

  it('writes what fits and then says that it is full, until it is not', async () => {
    const disk = diskWith('1234')
    disk.limit(6)
    const file = await disk.open(PATH, { write: true })
    await expect(file.write(bytes('abcd'), 4)).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(disk.text(PATH)).toBe('1234ab')
    await expect(file.write(bytes('z'), 6)).rejects.toMatchObject({ code: 'ENOSPC' })
    await file.write(bytes('over'), 0)
    disk.limit(undefined)
    await file.write(bytes('cd'), 6)
    expect(disk.text(PATH)).toBe('overabcd')
    disk.limit(8)
    const other = await disk.open('/proj/b', { write: true, create: true })
    await expect(other.write(bytes('x'), 0)).rejects.toMatchObject({ code: 'ENOSPC' })
    await disk.unlink(PATH)
    await other.write(bytes('x'), 0)
  })

  it('refuses every change while it is read-only, and still reads', async () => {
    const disk = diskWith('text')
    const file = await disk.open(PATH, { read: true, write: true })
    disk.setReadOnly(true)
    const refused = { code: 'EROFS' }
    await expect(file.write(bytes('x'), 0)).rejects.toMatchObject(refused)
    await expect(file.truncate(0)).rejects.toMatchObject(refused)
    await expect(file.chmod(0o600)).rejects.toMatchObject(refused)
    await expect(disk.open(PATH, { write: true })).rejects.toMatchObject(refused)
    await expect(disk.open('/proj/b', { write: true, create: true })).rejects.toMatchObject(refused)
    await expect(disk.mkdir('/proj/dir')).rejects.toMatchObject(refused)
    await expect(disk.rename(PATH, '/proj/b')).rejects.toMatchObject(refused)
    await expect(disk.unlink(PATH)).rejects.toMatchObject(refused)
    expect(await file.read(new Uint8Array(9), 0)).toBe(4)
    disk.setReadOnly(false)
    await disk.unlink(PATH)
  })

  it('holds operations of a kind until they are released', async () => {
    const disk = diskWith('')
    const release = disk.hold('datasync')
    const file = await disk.open(PATH, { write: true })
    let synced = false
    const syncing = file.datasync().then(() => (synced = true))
    await file.write(bytes('meanwhile'), 0)
    await turn()
    expect(synced).toBe(false)
    release()
    await syncing
    expect(disk.text(PATH)).toBe('meanwhile')
  })

  it('never opens a FIFO that has no peer, unless told not to wait', async () => {
    const { disk } = simWorld({ files: { '/proj/fifo': { kind: 'fifo' }, '/proj/socket': { kind: 'socket' } } })
    let opened = false
    void disk.open('/proj/fifo', { read: true }).then(() => (opened = true))
    await turn()
    expect(opened).toBe(false)
    const file = await disk.open('/proj/fifo', { read: true, nonBlocking: true })
    expect((await file.stat()).kind).toBe('fifo')
    await expect(disk.open('/proj/fifo', { write: true, nonBlocking: true })).rejects.toMatchObject({ code: 'ENXIO' })
    await expect(disk.open('/proj/socket', { read: true })).rejects.toMatchObject({ code: 'ENXIO' })
  })

  it('lets nobody change the mode of a file of somebody else, or give a file away', async () => {
    const { disk } = simWorld({ files: { '/proj/theirs': { content: '', uid: 7 }, [PATH]: '' } })
    const theirs = await disk.open('/proj/theirs', { read: true })
    await expect(theirs.chmod(0o777)).rejects.toMatchObject({ code: 'EPERM' })
    const own = await disk.open(PATH, { read: true })
    await expect(own.chown(7, 7)).rejects.toMatchObject({ code: 'EPERM' })
    await own.chmod(0o600)
    expect((await own.stat()).mode).toBe(0o600)
  })

  it('counts open files', async () => {
    const disk = diskWith('')
    const file = await disk.open(PATH, { read: true })
    expect(disk.openFiles).toBe(1)
    await file.close()
    await file.close()
    expect(disk.openFiles).toBe(0)
  })
})

// BUG-033
describe('a volume that folds names', () => {
  const world = () =>
    simWorld({ naming: 'folding', files: { '/proj/.env': 'secret', '/proj/R\u00e9sum\u00e9.txt': 'cv' } })

  it('finds one file under every case and Unicode form, and tells the first spelling', async () => {
    const { disk } = world()
    const ino = async (path: string) => (await disk.stat(path)).ino
    expect(await ino('/PROJ/.Env')).toBe(await ino('/proj/.env'))
    expect(await ino('/proj/Re\u0301sume\u0301.TXT')).toBe(await ino('/proj/R\u00e9sum\u00e9.txt'))
    expect(await disk.realpath('/Proj/.ENV')).toBe('/proj/.env')
    await expect(disk.open('/proj/.ENV', { write: true, create: true, exclusive: true })).rejects.toMatchObject({
      code: 'EEXIST',
    })
  })

  it('changes the spelling of a name by a rename', async () => {
    const { disk } = world()
    await disk.rename('/proj/.env', '/proj/.ENV')
    expect((await disk.readdir('/proj')).map((entry) => entry.name)).toContain('.ENV')
    expect(disk.text('/proj/.env')).toBe('secret')
  })

  it('is no other volume: without folding the spellings are different files', async () => {
    const { disk } = simWorld({ files: { '/proj/.env': '' } })
    await expect(disk.stat('/proj/.ENV')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
