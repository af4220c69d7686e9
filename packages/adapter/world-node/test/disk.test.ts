import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
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

  it('writes by way of another thread for a while after a short write took long', async () => {
    const path = join(root, 'slow.txt')
    const handle = await open(path, 'w')
    const threaded = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'write')
    await handle.close()
    const file = await disk.open(path, { read: true, write: true })
    await file.write(bytes('a'), 0)
    expect(threaded).toHaveBeenCalledTimes(0)
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(1000)
    await file.write(bytes('b'), 1)
    now.mockRestore()
    for (let at = 2; at < 200; at++) await file.write(bytes('c'), at)
    expect(threaded).toHaveBeenCalledTimes(100)
    threaded.mockRestore()
    expect((await file.stat()).size).toBe(200)
    await file.close()
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

  it('names the POSIX code, the path and the cause of a failure', async () => {
    const path = join(root, 'absent')
    const failure = disk.open(path, { read: true })
    await expect(failure).rejects.toMatchObject({ name: 'DiskError', code: 'ENOENT', path })
    await expect(failure).rejects.toHaveProperty('cause')
  })
})
