import { memoryStorePlugin } from '@sluice/session'
import * as llmPlugin from '@sluice/llm'
import * as sessionPlugin from '@sluice/session'
import * as toolsPlugin from '@sluice/tools'
import { scriptedModel, simWorld, worldPlugin } from '@sluice/testkit'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import * as agentPlugin from '../src/index.ts'
import { expectSettled, mount } from './harness.ts'

describe('agents', () => {
  test('unloading the plugin settles running turns and leaves nothing behind', async () => {
    const ctx = new Context()
    const world = simWorld()
    for (const plugin of [worldPlugin(world), memoryStorePlugin, sessionPlugin, llmPlugin]) await ctx.plugin(plugin)
    await ctx.plugin(toolsPlugin, { otherwise: 'allow' })
    const before = Object.fromEntries(Object.entries(ctx.events._hooks).map(([name, hooks]) => [name, hooks.length]))
    const fiber = await ctx.plugin(agentPlugin, {})
    ctx.llm.register('sim', scriptedModel([{ text: 'hm', hang: true }]))
    const session = await ctx.sessions.create({ cwd: '/proj' })
    const agent = ctx.agents.create({ session, model: 'sim/one' })
    ctx.agents.section('s', 0, 'text')
    const piece = new Promise<void>((resolve) => void agent.onPiece(() => resolve()))
    const sent = agent.send('hi')
    await piece
    await fiber.dispose()
    expect(await sent).toMatchObject({ reason: 'aborted', detail: 'the agent was closed' })
    expectSettled(session)
    expect(ctx.get('agents')).toBeUndefined()
    expect(world.clock.pending).toBe(0)
    for (const [name, hooks] of Object.entries(ctx.events._hooks))
      expect([name, hooks.length]).toEqual([name, before[name] ?? 0])
    const again = await ctx.plugin(agentPlugin, {})
    ctx.agents.section('s', 0, 'text')
    ctx.agents.create({ session, model: 'sim/one' })
    await again.dispose()
  })

  test('an agent and a section go when the plugin that made them goes', async () => {
    const m = await mount(['ok'])
    const session = await m.ctx.sessions.create({ cwd: '/proj' })
    const fiber = await m.ctx.plugin({
      name: 'maker',
      inject: ['agents'],
      apply(own: Context) {
        own.agents.create({ session, model: 'sim/one', name: 'child' })
        own.agents.section('maker', 0, 'From the maker.')
      },
    })
    expect(m.ctx.agents.get('child')?.name).toBe('child')
    await fiber.dispose()
    expect(m.ctx.agents.get('child')).toBeUndefined()
    await m.agent.send('hi')
    expect(m.model.requests[0]?.system).toBe('')
  })

  test('an agent has a name and a session of its own', async () => {
    const m = await mount([])
    const other = await m.ctx.sessions.create({ cwd: '/proj' })
    expect(() => m.ctx.agents.create({ session: other, model: 'sim/one' })).toThrow(
      expect.objectContaining({ code: 'AGENT_NAME_TAKEN' }),
    )
    expect(() => m.ctx.agents.create({ session: m.session, model: 'sim/one', name: 'two' })).toThrow(
      expect.objectContaining({ code: 'AGENT_SESSION_TAKEN' }),
    )
    await other.close()
    expect(() => m.ctx.agents.create({ session: other, model: 'sim/one', name: 'two' })).toThrow(
      expect.objectContaining({ code: 'AGENT_SESSION_READ_ONLY' }),
    )
  })

  test('plugins are told when turns start and end, and one that throws does not starve the others', async () => {
    const m = await mount(['ok'])
    const told: string[] = []
    m.ctx.on('agent/turn-started', () => {
      throw new Error('broken')
    })
    m.ctx.on(
      'agent/turn-started',
      (agent, session, turn) => void told.push(`started ${agent} ${turn} ${session === m.session}`),
    )
    m.ctx.on('agent/turn-ended', async () => Promise.reject(new Error('broken too')))
    m.ctx.on('agent/turn-ended', (agent, _session, result) => void told.push(`ended ${agent} ${result.reason}`))
    await m.agent.send('hi')
    expect(told).toEqual(['started main 1 true', 'ended main completed'])
  })

  test('a defect in the middle of a turn ends it with AGENT_TURN_FAILED and a settled log', async () => {
    const m = await mount([])
    m.ctx.on('agent/submit-prompt', () => ({ kind: 'replace', content: [{ type: 'nonsense' }] as never }))
    m.world.disk.stat = () => Promise.reject(new Error('a defect of the disk'))
    m.world.disk.realpath = () => Promise.reject(new Error('a defect of the disk'))
    expect(await m.agent.send('hi')).toMatchObject({ reason: 'error', code: 'AGENT_TURN_FAILED' })
    expectSettled(m.session)
  })
})
