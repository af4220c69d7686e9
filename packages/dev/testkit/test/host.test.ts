import type { Context } from 'cordis'
import { describe, expect, it } from 'vitest'
import { leftBehind, simHost } from '../src/host.ts'

const env = {}
const tidy = {
  name: 'tidy',
  inject: ['world', 'sessions'],
  provide: ['helper'],
  apply(ctx: Context) {
    ctx.provide('helper', {})
    ctx.on('tools/result', () => {})
    ctx.sessions.define({ 'tidy/done': { version: 1, meaning: 'It is done.', schema: { type: 'object' } } })
    ctx.effect(() => ctx.world.clock.timer(1000, () => {}))
  },
}

describe('a simulated host', () => {
  it('has a session whose log is in memory, until it is disposed', async () => {
    const host = await simHost()
    const { session, world } = host
    session.append('user/message', { content: [{ type: 'text', text: 'hi' }], source: 'test' })
    await session.durable()
    expect(session.events.map((event) => event.type)).toEqual(['session/started', 'user/message'])
    expect(world.disk.effectCount).toBe(0)
    await host.dispose()
    expect(session.writable).toBe(false)
  })

  it('finds nothing behind a plugin whose registrations are effects', async () => {
    const host = await simHost()
    let used = false
    expect(await leftBehind(host, tidy, {}, () => (used = true))).toEqual([])
    expect(used).toBe(true)
  })

  it('names what a careless plugin leaves behind', async () => {
    const host = await simHost()
    host.world.processes.on('server', () => {})
    const careless = {
      name: 'careless',
      async apply() {
        const { ctx, world } = host
        ctx.on('tools/result', () => {})
        ctx.on('tools/result', () => {})
        ctx.provide('leaked', {})
        world.clock.timer(1000, () => {})
        ctx.sessions.define({ 'careless/done': { version: 1, meaning: 'It is done.', schema: { type: 'object' } } })
        await world.processes.spawn({ file: 'server', args: [], cwd: '/', env })
        await world.disk.open('/proj', { read: true })
      },
    }
    expect(await leftBehind(host, careless, {})).toEqual([
      'event type careless/done',
      'listener tools/result (2 times)',
      'open file',
      'process',
      'service leaked',
      'timer',
    ])
  })
})
