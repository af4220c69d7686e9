import { existsSync, mkdtempSync, rmSync } from 'node:fs'
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

  it('go by way of another thread for a while after one took long', () => {
    const direct = new Direct()
    const now = vi.spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValueOnce(1000)
    expect(direct.now(() => 'answer')).toBe('answer')
    now.mockRestore()
    const free = Array.from({ length: 150 }, () => direct.isFree())
    expect(free).toEqual([...Array.from({ length: 100 }, () => false), ...Array.from({ length: 50 }, () => true)])
  })

  it('let everything else have its turn however many there are', () => {
    const direct = new Direct()
    const free = Array.from({ length: 1000 }, () => direct.isFree())
    expect(free.filter((each) => !each)).toHaveLength(5)
  })
})
