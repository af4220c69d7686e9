import { compose } from '@sluice/compose'
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

// 4.3
describe('a name on mayAllow', () => {
  const allows = (ctx: Context) => void ctx.on('tools/pre-execute', () => allow)
  const named = (apply: (ctx: Context) => void) => ({ name: 'permissions', apply })

  test('helps no plugin that another plugin mounts, and what a trusted one mounts is a part of it', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny' } })
    const probe = probeTool()
    await bench.register(probe.definition)
    const stranger = await bench.plugin('stranger', (ctx) => void ctx.plugin(named(allows)))
    const settled = await bench.call('probe')
    expect(askedIn(settled)).toEqual(['permissions:allow (void)'])
    expect(probe.runs).toBe(0)
    await stranger.dispose()
    await bench.plugin('permissions', (ctx) => void ctx.plugin({ name: 'rules', apply: allows }))
    expect(askedIn(await bench.call('probe'))).toEqual(['rules:allow'])
    expect(probe.runs).toBe(1)
  })

  test('is the id of an entry where a composition file was loaded, whatever a plugin calls itself', async () => {
    const probe = probeTool()
    const entries = [
      ['session-store', memoryStorePlugin],
      ['@sluice/session', sessionPlugin],
      ['@sluice/tools', toolsPlugin],
      ['probe', { inject: ['tools'], apply: (ctx: Context) => void ctx.tools.register(probe.definition) }],
    ] as const
    const saidUnder = async (name: string, plugin: unknown) => {
      const modules = new Map<string, unknown>([...entries, [name, plugin]])
      const world = simWorld({
        autoAdvance: true,
        files: { '/proj/sluice.yml': [...modules.keys()].map((entry) => `- name: "${entry}"\n`).join('') },
      })
      const ctx = new Context()
      await ctx.plugin(worldPlugin(world))
      const importer = async (wanted: string) => modules.get(wanted)
      const composed = await compose(ctx, { file: '/proj/sluice.yml', world, importer })
      const session = await ctx.sessions.create({ cwd: '/proj' })
      const settled = await ctx.tools.execute({ session, call: { id: 'c', tool: 'probe', arguments: {} } })
      await composed.dispose()
      return askedIn(settled)
    }
    expect(await saidUnder('@sluice/permissions', { name: 'mine', apply: allows })).toEqual(['mine:allow'])
    expect(await saidUnder('permissions', named(allows))).toEqual(['permissions:allow'])
    const forgeries = [
      named(allows),
      { name: 'x', apply: (ctx: Context) => void ctx.plugin(named(allows)) },
      { name: 'x', apply: (ctx: Context) => void ctx.root.plugin(named(allows)) },
    ]
    for (const forgery of forgeries) expect(await saidUnder('./evil.ts', forgery)).toEqual(['permissions:allow (void)'])
    expect(probe.runs).toBe(2)
  })
})
