import { execFileSync } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeWorld } from '../src/index.ts'

const root = mkdtempSync(join(tmpdir(), 'world-node-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const { disk } = nodeWorld()
const bytes = (text: string) => new TextEncoder().encode(text)

describe('the real disk', () => {
  it('writes, reads and syncs a file through one descriptor', async () => {
    const path = join(root, 'a.txt')
    const file = await disk.open(path, { read: true, write: true, create: true, exclusive: true, mode: 0o600 })
    await file.write(bytes('hello'), 0)
    await file.datasync()
    await file.sync()
    const into = new Uint8Array(16)
    expect(await file.read(into, 1)).toBe(4)
    expect(new TextDecoder().decode(into.subarray(0, 4))).toBe('ello')
    expect(await file.stat()).toMatchObject({ kind: 'file', size: 5, mode: 0o600, links: 1 })
    await file.close()
    await disk.syncDir(root)
  })

  it.runIf(process.platform === 'linux')('tells the real path of an open file, whatever it was opened as', async () => {
    const folder = realpathSync(root)
    const path = join(folder, 'real.txt')
    await (await disk.open(path, { write: true, create: true })).close()
    await disk.symlink('real.txt', join(folder, 'link'))
    const file = await disk.open(join(folder, 'link'), { read: true })
    expect(await file.realPath?.()).toBe(path)
    await disk.rename(path, join(folder, 'moved.txt'))
    expect(await file.realPath?.()).toBe(join(folder, 'moved.txt'))
    await file.close()
  })

  it('opens a FIFO without a writer at once when told not to block', async () => {
    const path = join(root, 'fifo')
    execFileSync('mkfifo', [path])
    const file = await disk.open(path, { read: true, nonBlocking: true })
    expect((await file.stat()).kind).toBe('fifo')
    await file.close()
  })

  it('waits for the other end of a FIFO without holding up anybody', async () => {
    const path = join(root, 'waiting')
    execFileSync('mkfifo', [path])
    const reader = disk.open(path, { read: true })
    const writer = await disk.open(path, { write: true })
    await (await reader).close()
    await writer.close()
  })

  it('gives a descriptor back when the calls on their way are done, and refuses later ones', async () => {
    const file = await disk.open(join(root, 'closing'), { read: true, write: true, create: true })
    await file.write(new Uint8Array(100_000), 0)
    // Every other thread is busy, so that the reading cannot have begun when the file is closed.
    const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 10_000, 64, 'sha512'))
    const reading = file.read(new Uint8Array(100_000), 0)
    const closing = file.close()
    await expect(file.stat()).rejects.toMatchObject({ code: 'EBADF' })
    expect(await reading).toBe(100_000)
    await Promise.all([closing, ...busy])
    await file.close()
  })

  it('names the POSIX code, the path and the cause of a failure', async () => {
    const path = join(root, 'absent')
    const failure = disk.open(path, { read: true })
    await expect(failure).rejects.toMatchObject({ name: 'DiskError', code: 'ENOENT', path })
    await expect(failure).rejects.toHaveProperty('cause')
  })
})
