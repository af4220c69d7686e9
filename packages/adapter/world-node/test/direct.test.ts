import fs, { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { Direct } from '../src/direct.ts'
import { nodeDisk } from '../src/disk.ts'

const memory = '/dev/shm'
const isLinux = process.platform === 'linux' && existsSync(memory)
const root = mkdtempSync(join(isLinux ? memory : tmpdir(), 'direct-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Whether other work got its turn before `call` was done. */
async function waits(call: () => Promise<unknown>): Promise<boolean> {
  let turned = false
  setImmediate(() => (turned = true))
  await call()
  return turned
}

describe('calls to the disk', () => {
  it.runIf(isLinux)('are made at once where memory or a disk of this machine answers, and nowhere else', async () => {
    const disk = nodeDisk()
    const [near, far] = [join(root, 'a'), '/proc/self/status']
    const file = await disk.open(near, { read: true, write: true, create: true })
    const large = new Uint8Array(100_000)
    await file.write(large, 0)
    expect(await waits(() => disk.lstat(near))).toBe(false)
    expect(await waits(() => file.read(new Uint8Array(10), 0))).toBe(false)
    expect(await waits(() => disk.open(near, { read: true, nonBlocking: true }))).toBe(false)
    expect(await waits(() => file.read(large, 0))).toBe(true)
    expect(await waits(() => file.sync())).toBe(true)
    await disk.lstat(far)
    expect(await waits(() => disk.lstat(far))).toBe(true)
    const told = await disk.open(far, { read: true, nonBlocking: true })
    expect(await waits(() => told.read(new Uint8Array(10), 0))).toBe(true)
    await Promise.all([file.close(), told.close()])
  })

  it.runIf(isLinux)('never come by a link or a mount to what may not answer', async () => {
    const disk = nodeDisk()
    const [near, file, link, folder] = ['near', 'near/file', 'near/link', 'near/folder'].map((name) => join(root, name))
    mkdirSync(near as string)
    writeFileSync(file as string, 'x')
    symlinkSync('/proc/self/status', link as string)
    symlinkSync('/proc/self', folder as string)
    const roundabout = join(root, 'roundabout')
    symlinkSync(near as string, roundabout)
    const opened = await disk.open('/proc/self/comm', { write: true })
    const calls: readonly (() => Promise<unknown>)[] = [
      () => disk.stat(link as string),
      () => disk.realpath(link as string),
      () => disk.realpath(folder as string),
      () => disk.lstat(`${folder}/`),
      () => disk.lstat(`${folder}/..`),
      () => disk.lstat('/proc'),
      () => disk.lstat(join(roundabout, 'file')),
      async () => (await disk.open(link as string, { read: true, nonBlocking: true })).close(),
      () => disk.rename(file as string, '/proc/self/x').catch(() => undefined),
      () => disk.link(file as string, '/proc/self/x').catch(() => undefined),
      () => disk.syncDir(folder as string).catch(() => undefined),
      () => opened.write(Buffer.from('x'), 0).catch(() => undefined),
    ]
    for (const call of calls) {
      await call()
      expect(await waits(call), call.toString()).toBe(true)
    }
    expect(await waits(() => disk.realpath(file as string))).toBe(false)
    expect(await waits(() => disk.stat(file as string))).toBe(false)
    await opened.close()
  })

  it.runIf(isLinux)('leave the times of what may not answer to another thread', async () => {
    const asked = vi.spyOn(fs, 'lstatSync')
    syncBuiltinESMExports()
    try {
      const near = join(root, 'times')
      writeFileSync(near, 'x')
      expect(await nodeDisk().mtimes([near])).toEqual([expect.any(Number)])
      expect(asked).toHaveBeenCalledWith(near, expect.anything())
      expect(await nodeDisk().mtimes(['/proc/self/status', '/process'])).toEqual([expect.any(Number), undefined])
      expect(asked).toHaveBeenCalledTimes(1)
    } finally {
      asked.mockRestore()
      syncBuiltinESMExports()
    }
  })

  it.runIf(isLinux)('are looked at anew when a folder may have been moved', async () => {
    const disk = nodeDisk()
    const [at, moved] = [join(root, 'at'), join(root, 'moved')]
    mkdirSync(at)
    const call = () => disk.lstat(join(at, 'stat')).catch(() => undefined)
    await call()
    expect(await waits(call)).toBe(false)
    fs.renameSync(at, moved)
    symlinkSync('/proc/self', at)
    const later = performance.now() + 1000
    const now = vi.spyOn(performance, 'now').mockReturnValue(later)
    await call()
    expect(await waits(call)).toBe(true)
    now.mockRestore()
  })

  it('go by way of another thread for a while after one took long', () => {
    const direct = new Direct()
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(1000)
    expect(direct.now(() => 'answer')).toBe('answer')
    now.mockRestore()
    const free = Array.from({ length: 150 }, () => direct.isFree())
    expect(free).toEqual([...Array.from({ length: 100 }, () => false), ...Array.from({ length: 50 }, () => true)])
  })

  it('let everything else have its turn however many there are', async () => {
    const disk = nodeDisk()
    const at = join(root, 'turns')
    writeFileSync(at, 'x')
    await disk.lstat(at)
    let done = 0
    const chain = async () => {
      for (let i = 0; i < 20; i++, done++) await disk.lstat(at)
    }
    const turned = new Promise<number>((resolve) => setImmediate(() => resolve(done)))
    await Promise.all([...Array.from({ length: 500 }, chain), turned])
    expect(done).toBe(10_000)
    expect(await turned).toBeLessThan(1000)
  })
})
