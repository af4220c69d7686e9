import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { sleep } from '@sluice/base'
import { describe, expect, it } from 'vitest'
import { nodeWorld } from '../src/index.ts'

const world = nodeWorld()

describe('the real world', () => {
  it('has a clock that tells the time, and one that never goes back', async () => {
    const [wall, steady] = [world.clock.now(), world.clock.monotonic()]
    await sleep(world.clock, 1)
    expect(world.clock.monotonic()).toBeGreaterThan(steady)
    expect(Math.abs(wall - Date.now())).toBeLessThan(60_000)
  })

  it('fires a timer once, or not at all when it is cancelled', async () => {
    const fired: string[] = []
    world.clock.timer(1, () => fired.push('cancelled'))()
    world.clock.timer(1, () => fired.push('fired'))
    await sleep(world.clock, 5)
    expect(fired).toEqual(['fired'])
  })

  it('does not fire a timer of a month at once', async () => {
    let fired = false
    const cancel = world.clock.timer(30 * 86_400_000, () => (fired = true))
    await sleep(world.clock, 5)
    cancel()
    expect(fired).toBe(false)
  })

  it('has randomness that is not given twice', () => {
    const pieces = new Set(Array.from({ length: 2000 }, () => world.random.bytes(12).join()))
    expect(pieces.size).toBe(2000)
    expect(world.random.bytes(10_000)).toHaveLength(10_000)
    expect(world.random.bytes(0)).toHaveLength(0)
    for (let i = 0; i < 1000; i++) {
      const float = world.random.float()
      expect(float >= 0 && float < 1).toBe(true)
    }
  })

  it('keeps random bytes that were given away as they were', () => {
    const first = world.random.bytes(8)
    const copy = [...first]
    for (let i = 0; i < 2000; i++) world.random.bytes(8)
    expect([...first]).toEqual(copy)
  })

  it('knows its host, with an environment that cannot change the real one', () => {
    expect(world.host).toMatchObject({ pid: process.pid, platform: process.platform, hostname: hostname() })
    expect(world.host.umask).toBe(process.umask())
    expect(world.host.env).toEqual(process.env)
    expect(world.host.env).not.toBe(process.env)
  })

  it('fetches over real HTTP', async () => {
    const server = createServer((_, response) => response.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await (await world.network.fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello')
    await new Promise((resolve) => server.close(resolve))
    await expect(world.network.fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow(TypeError)
  })
})
