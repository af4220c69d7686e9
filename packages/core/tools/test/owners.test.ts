import { probeTool, simWorld, worldPlugin } from '@sluice/testkit'
import * as sessionPlugin from '@sluice/session'
import { memoryStorePlugin } from '@sluice/session'
import * as toolsPlugin from '@sluice/tools'
import { Context } from 'cordis'
import { describe, expect, test } from 'vitest'
import { allow, askedIn, deny, judges, saidBy, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

// 4.6
describe('who said what', () => {
  test('every listener asked is recorded in order, an abstention with its id only', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const fibers = await judges(bench, {
      silent: () => ({ kind: 'abstain' }),
      passes: (_call, next) => next(),
      permissions: async (_call, next) => (await next(), { kind: 'allow', reason: 'rule', rule: 'probe' }),
      passesToo: async (_call, next) => next(),
      hooks: () => allow,
    })
    const settled = await bench.call('probe')
    expect(askedIn(settled)).toEqual(['silent', 'passes', 'permissions:allow', 'passesToo', 'hooks:allow'])
    expect(stepOf(settled, 'pre-execute').asked?.slice(0, 2)).toEqual([
      `silent#${fibers[0]?.uid}`,
      `passes#${fibers[1]?.uid}`,
    ])
    expect(saidBy(settled, 'permissions')).toEqual({
      plugin: `permissions#${fibers[2]?.uid}`,
      said: 'allow',
      reason: 'rule',
      rule: 'probe',
      ms: 0,
    })
  })

  test('an answer identical to that of next() is a pass, not a verdict of the plugin', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await judges(bench, { passes: async (_call, next) => next(), denies: () => deny('no') })
    const settled = await bench.call('probe')
    expect(askedIn(settled)).toEqual(['passes', 'denies:deny'])
    expect(settled.result.outcome).toMatchObject({ by: expect.stringMatching(/^denies#/) as string })
  })

  test('no option of ctx.on makes a listener count as one of another plugin', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny' } })
    const probe = probeTool()
    await bench.register(probe.definition)
    let trusted: Context | undefined
    await bench.plugin('permissions', (ctx) => {
      trusted = ctx
      ctx.on('tools/pre-execute', (_call, next) => next())
    })
    const forgeries: object[] = [
      { ctx: trusted },
      { name: 'permissions', plugin: 'permissions#1', fiber: trusted?.fiber },
      { ctx: trusted, callback: () => ({ kind: 'allow' }) },
      {
        ctx: trusted,
        get callback() {
          return () => ({ kind: 'allow' })
        },
      },
    ]
    for (const options of forgeries) {
      const fiber = await bench.plugin('forger', (ctx) => {
        ctx.on('tools/pre-execute', () => ({ kind: 'allow' }), options as never)
      })
      const settled = await bench.call('probe')
      expect(settled.result.outcome).toMatchObject({ tag: 'denied', by: 'otherwise' })
      const names = (stepOf(settled, 'pre-execute').asked ?? []).map((asked) =>
        typeof asked === 'string' ? asked : asked.plugin,
      )
      expect(names.filter((name) => name.startsWith('permissions#'))).toEqual([`permissions#${trusted?.fiber.uid}`])
      await fiber.dispose()
    }
    expect(probe.runs).toBe(0)
  })

  test('one function mounted by two plugins counts as a listener of each', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny' } })
    const probe = probeTool()
    await bench.register(probe.definition)
    const shared = () => allow
    await judges(bench, { permissions: shared, stranger: shared })
    const settled = await bench.call('probe')
    expect(askedIn(settled)).toEqual(['permissions:allow', 'stranger:allow (void)'])
  })
})

// 4.3
describe('listeners that were there before the tools', () => {
  async function composition(early: (ctx: Context) => void) {
    const ctx = new Context()
    await ctx.plugin(worldPlugin(simWorld({ autoAdvance: true })))
    await ctx.plugin(memoryStorePlugin)
    await ctx.plugin(sessionPlugin)
    await ctx.plugin({ name: 'permissions', apply: early })
    await ctx.plugin(toolsPlugin, { otherwise: 'deny' })
    const session = await ctx.sessions.create({ cwd: '/proj' })
    const probe = probeTool()
    await ctx.plugin({ name: 'tool', inject: ['tools'], apply: (own) => void own.tools.register(probe.definition) })
    return { probe, call: () => ctx.tools.execute({ session, call: { id: 'c', tool: 'probe', arguments: {} } }) }
  }

  test('they can deny, but not allow: who mounted them was not seen', async () => {
    const allowing = await composition((ctx) => void ctx.on('tools/pre-execute', () => allow))
    expect(askedIn(await allowing.call())).toEqual(['unverified permissions:allow (void)'])
    expect(allowing.probe.runs).toBe(0)
    const denying = await composition((ctx) => void ctx.on('tools/pre-execute', () => deny('early')))
    expect((await denying.call()).result.outcome).toMatchObject({ tag: 'denied', reason: 'early' })
  })
})
