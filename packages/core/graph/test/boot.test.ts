import { isDiskError } from '@sluice/base'
import { simWorld } from '@sluice/testkit'
import type { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import { boot, graphOf, refusingWorld } from '../src/index.ts'
import { bootWith, part } from '@sluice/testkit/composition'

describe('booting to look', () => {
  it('gives plugins a World that refuses effects, in place of one that the composition mounts', async () => {
    let seen: unknown
    const booted = await bootWith({
      real: { name: 'real', provide: ['world'], apply: (ctx: Context) => void ctx.provide('world', simWorld()) },
      user: part('user', (ctx) => (seen = ctx.world), ['world']),
    })
    await booted.dispose()
    expect(seen).toMatchObject({ host: { hostname: 'graph' } })
  })

  it('keeps a plugin that waits for something, and refuses one that fails', async () => {
    const booted = await bootWith({ waiting: part('waiting', () => {}, ['nothing']) })
    expect(booted.diagnosis.pending.map((one) => one.plugin)).toEqual(['waiting'])
    await booted.dispose()
    const failing = part('failing', () => {
      throw new Error('cannot mount')
    })
    await expect(bootWith({ failing })).rejects.toMatchObject({
      code: 'GRAPH_PLUGIN_FAILED',
      message: expect.stringContaining('failing (line 4): cannot mount'),
    })
  })

  it('says which service is missing and why when there is nothing to draw', async () => {
    const world = simWorld({ files: { '/a.yml': '- name: a' } })
    const booted = await boot({ file: '/a.yml', title: 'a.yml', world, importer: async () => part('a', () => {}) })
    expect(() => graphOf(booted)).toThrow(expect.objectContaining({ code: 'GRAPH_SERVICE_MISSING' }))
    await booted.dispose()
  })
})

describe('the World of looking', () => {
  it('reads, writes, starts and fetches nothing, and its time stands still', async () => {
    const world = refusingWorld()
    for (const operation of Object.values(world.disk) as ((path: string) => Promise<unknown>)[]) {
      const error: unknown = await operation('/a').catch((reason: unknown) => reason)
      expect(isDiskError(error, 'EROFS')).toBe(true)
    }
    await expect(world.processes.spawn({ file: 'a', args: [], cwd: '/', env: {} })).rejects.toThrow('refuses')
    await expect(world.network.fetch('http://host')).rejects.toThrow('refuses')
    let fired = false
    world.clock.timer(0, () => {
      fired = true
    })()
    expect([fired, world.clock.now(), world.clock.monotonic(), world.random.float()]).toEqual([false, 0, 0, 0])
    expect([...world.random.bytes(2)]).toEqual([0, 0])
    expect([world.processes.isAlive(1), world.processes.startTimeOf(1)]).toEqual([false, undefined])
  })
})
