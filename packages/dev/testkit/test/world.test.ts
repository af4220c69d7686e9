import { sleep } from '@sluice/base'
import { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import { simWorld, worldPlugin } from '../src/index.ts'

describe('the simulated world', () => {
  it('gives the same bytes for the same seed and others for another', () => {
    const bytes = (seed: number) => [...simWorld({ seed }).random.bytes(16)]
    expect(bytes(7)).toEqual(bytes(7))
    expect(bytes(7)).not.toEqual(bytes(8))
  })

  it('stands still until it is advanced, then fires timers in order of their time', async () => {
    const { clock } = simWorld()
    const fired: string[] = []
    clock.timer(20, () => fired.push('late'))
    clock.timer(10, () => fired.push('early'))
    const cancel = clock.timer(15, () => fired.push('cancelled'))
    cancel()
    await clock.advance(9)
    expect(fired).toEqual([])
    await clock.advance(11)
    expect(fired).toEqual(['early', 'late'])
    expect(clock.pending).toBe(0)
  })

  it('fires timers by itself in auto-advance when nothing else happens', async () => {
    const world = simWorld({ autoAdvance: true, startAt: 0 })
    await sleep(world.clock, 3_600_000)
    expect(world.clock.now()).toBe(3_600_000)
  })

  it('provides ctx.world for as long as its plugin is mounted', async () => {
    const ctx = new Context()
    const world = simWorld()
    const fiber = await ctx.plugin(worldPlugin(world))
    expect(ctx.world).toBe(world)
    await fiber.dispose()
    expect(ctx.get('world')).toBeUndefined()
  })

  it('reaches no address and starts no program that the test did not describe', async () => {
    const world = simWorld()
    await expect(world.network.fetch('http://localhost:1/')).rejects.toThrow('fetch failed')
    const spawn = world.processes.spawn({ file: 'ls', args: [], cwd: '/', env: {} })
    await expect(spawn).rejects.toMatchObject({ name: 'DiskError', code: 'ENOENT' })
  })

  it('keeps files in memory', async () => {
    const { disk } = simWorld({ files: { '/proj/a.txt': 'hello' } })
    const file = await disk.open('/proj/a.txt', { read: true, write: true })
    await file.write(new TextEncoder().encode('J'), 0)
    await file.close()
    expect(disk.text('/proj/a.txt')).toBe('Jello')
    expect(await disk.readdir('/proj')).toEqual([{ name: 'a.txt', kind: 'file' }])
  })
})
