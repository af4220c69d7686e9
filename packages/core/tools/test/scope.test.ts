/** Proves taking part: registrations live as long as their plugin, count for their agent, and run in a stable order. */
import { forAgent, type ToolDefinition } from '@sluice/tools'
import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { Bench } from './kit.ts'
import { soundBench } from './sound.ts'

function names(bench: Bench, agent?: string): string[] {
  return bench.ctx.tools.visible(agent).map(({ name }) => name)
}

function tool(name: string, value: string = name): ToolDefinition {
  return probeTool({ name, body: () => value }).definition
}

async function valueOf(bench: Bench, name: string, agent?: string) {
  const { result } = await bench.call(name, {}, agent === undefined ? {} : { agent })
  return result.outcome.tag === 'succeeded' ? result.value : result.outcome.tag
}

// 13.1
it('whatever a plugin mounts goes with it, or before it by its disposer', async () => {
  const bench = await soundBench()
  await bench.register(tool('probe'))
  const seen: string[] = []
  let disposers: (() => unknown)[] = []
  const mount = () =>
    bench.plugin('part', (ctx) => {
      const pass = (name: string) =>
        ((...all: unknown[]) => (seen.push(name), (all.at(-1) as () => unknown)())) as never
      disposers = [
        ctx.on('tools/prepare', pass('prepare')),
        ctx.on('tools/pre-execute', pass('pre-execute')),
        ctx.on('tools/execute', pass('execute')),
        ctx.on('tools/post-execute', pass('post-execute')),
        ctx.on('tools/result', () => void seen.push('result')),
        ctx.tools.guard('watch', () => void seen.push('guard')),
        ctx.tools.register(tool('extra')),
        ctx.tools.restrict('main', { deny: ['probe'] }),
      ]
    })
  const all = ['prepare', 'pre-execute', 'guard', 'execute', 'post-execute', 'result']
  for (const how of ['unload', 'dispose'] as const) {
    const plugin = await mount()
    await bench.call('probe')
    expect(seen.splice(0)).toEqual(all)
    expect([names(bench), names(bench, 'main')]).toEqual([['extra', 'probe'], ['extra']])
    if (how === 'unload') await plugin.dispose()
    else for (const dispose of disposers) await dispose()
    await bench.call('probe')
    expect(seen.splice(0)).toEqual([])
    expect([names(bench), names(bench, 'main')]).toEqual([['probe'], ['probe']])
    const { listeners, guards } = bench.ctx.tools.live()
    expect([...listeners.values(), guards].flat()).toEqual([])
    await plugin.dispose()
  }
})

// 13.2
it('listeners run by order, then by plugin, whatever order they are mounted in and however often they are reloaded', async () => {
  const bench = await soundBench()
  await bench.register(tool('probe'))
  const seen: string[] = []
  const mount = (name: string, order: unknown) =>
    bench.plugin(name, (ctx) => {
      ctx.on('tools/pre-execute', (_call, next) => (seen.push(name), next()), { order: order as number })
    })
  const rows: [string, unknown][] = [
    ['late', 5],
    ['b', 0],
    ['early', -1.5],
    ['c', undefined],
    ['a', 'first'],
    ['d', Number.NaN],
  ]
  for (const order of [rows, rows.toReversed()]) {
    const fibers = []
    for (const [name, at] of order) fibers.push(await mount(name, at))
    await bench.call('probe')
    await fibers[1]?.restart()
    await bench.call('probe')
    expect(seen.splice(0)).toEqual(Array(2).fill(['early', 'a', 'b', 'c', 'd', 'late']).flat())
    expect(
      bench.ctx.tools
        .live()
        .listeners.get('tools/pre-execute')
        ?.map(({ plugin }) => plugin.split('#')[0]),
    ).toEqual(['early', 'a', 'b', 'c', 'd', 'late'])
    for (const fiber of fibers) await fiber.dispose()
  }
})

// 13.3
describe('a registration narrowed to an agent', () => {
  it('counts for that agent and its children only, and goes with the plugin that made it', async () => {
    const bench = await soundBench()
    await bench.register(tool('probe'))
    const seen: string[] = []
    const plugin = await bench.plugin('narrow', (ctx) => {
      const own = forAgent(ctx, 'main')
      own.tools.register(tool('own'))
      own.tools.guard('own', () => void seen.push('guard'))
      own.on('tools/pre-execute', (_call, next) => (seen.push('listener'), next()))
      own.on('tools/result', () => void seen.push('result'))
    })
    const heard: Record<string, string[]> = {}
    for (const agent of [undefined, 'main', 'main/reviewer', 'mainland', 'other', 'other/main']) {
      await bench.call('probe', {}, agent === undefined ? {} : { agent })
      heard[String(agent)] = [...names(bench, agent), ...seen.splice(0)]
    }
    const mine = ['own', 'probe', 'listener', 'guard', 'result']
    expect(heard).toEqual({
      undefined: ['probe'],
      main: mine,
      'main/reviewer': mine,
      mainland: ['probe'],
      other: ['probe'],
      'other/main': ['probe'],
    })
    expect(bench.ctx.tools.live().guards).toEqual([
      { name: 'own', plugin: `narrow#${plugin.uid}`, scope: 'main', order: 0 },
    ])
    await plugin.dispose()
    await bench.call('probe', {}, { agent: 'main' })
    expect([names(bench, 'main'), seen]).toEqual([['probe'], []])
  })

  it('shadows one that is farther away, for that agent', async () => {
    const bench = await soundBench()
    await bench.plugin('tools', (ctx) => {
      forAgent(ctx, 'main/reviewer').tools.register(tool('probe', 'nearest'))
      forAgent(ctx, 'main').tools.register(tool('probe', 'near'))
      ctx.tools.register(tool('probe', 'global'))
    })
    const agents = [undefined, 'other', 'main', 'main/writer', 'main/reviewer', 'main/reviewer/deep']
    const values = []
    for (const agent of agents) values.push(await valueOf(bench, 'probe', agent))
    expect(values).toEqual(['global', 'global', 'near', 'near', 'nearest', 'nearest'])
  })

  it('is asked after those that are farther away, when it is a guard', async () => {
    const bench = await soundBench()
    await bench.register(tool('probe'))
    const seen: string[] = []
    await bench.plugin('guards', (ctx) => {
      for (const agent of ['main/reviewer', 'main', undefined]) {
        const own = agent === undefined ? ctx : forAgent(ctx, agent)
        own.tools.guard(String(agent), () => void seen.push(String(agent)))
      }
    })
    await bench.call('probe', {}, { agent: 'main/reviewer' })
    expect(seen).toEqual(['undefined', 'main', 'main/reviewer'])
  })
})

// 13.3
it('a restriction filters what an agent inherits, its children inherit the rest, and restrictions only add up', async () => {
  const bench = await soundBench()
  await bench.plugin('tools', (ctx) => {
    for (const name of ['a', 'b', 'c']) ctx.tools.register(tool(name))
    forAgent(ctx, 'main/reviewer').tools.register(tool('own'))
  })
  expect(names(bench, 'main/reviewer')).toEqual(['a', 'b', 'c', 'own'])
  const allow = await bench.plugin('allow', (ctx) => void ctx.tools.restrict('main', { allow: ['a', 'b', 'zzz'] }))
  expect([names(bench, 'main'), names(bench, 'main/reviewer'), names(bench)]).toEqual([
    ['a', 'b'],
    ['a', 'b', 'own'],
    ['a', 'b', 'c'],
  ])
  await bench.plugin('deny', (ctx) => void ctx.tools.restrict('main/reviewer', { deny: ['a'], allow: ['a', 'b', 'c'] }))
  expect(names(bench, 'main/reviewer')).toEqual(['b', 'own'])
  expect(await valueOf(bench, 'a', 'main/reviewer')).toBe('unknown-tool')
  await allow.dispose()
  expect([names(bench, 'main'), names(bench, 'main/reviewer')]).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c', 'own'],
  ])
})

// 13.3
it('a filter may hold for direct or for nested calls only', async () => {
  const bench = await soundBench()
  await bench.register(tool('a'))
  await bench.register(tool('b'))
  const body = (_args: unknown, run: { call(name: string, args: object): Promise<unknown> }) =>
    Promise.allSettled(['a', 'b'].map((name) => run.call(name, {}))).then((all) => all.map(({ status }) => status))
  await bench.register(probeTool({ name: 'program', body }).definition)
  await bench.plugin('rules', (ctx) => {
    ctx.tools.filter(
      (name, agent, reach) => agent !== 'main' || (name === 'a') === (reach === 'nested') || name === 'program',
    )
  })
  expect(names(bench, 'main')).toEqual(['b', 'program'])
  expect([await valueOf(bench, 'a', 'main'), await valueOf(bench, 'b', 'main')]).toEqual(['unknown-tool', 'b'])
  expect(await valueOf(bench, 'program', 'main')).toEqual(['fulfilled', 'rejected'])
  const { result } = await bench.call('aa', {}, { agent: 'main' })
  expect(result.outcome).toMatchObject({ tag: 'unknown-tool', nearest: ['b'] })
})

// 13.4
it('a listener or guard that is mounted while a stage runs takes part in the next stage only', async () => {
  const bench = await soundBench()
  await bench.register(tool('probe'))
  const seen: string[] = []
  let mounted = false
  await bench.plugin('first', (ctx) => {
    ctx.on('tools/pre-execute', async (_call, next) => {
      if (!mounted) {
        mounted = true
        await bench.plugin('second', (own) => {
          own.on('tools/pre-execute', (_other, on) => (seen.push('pre-execute'), on()))
          own.on('tools/post-execute', (_other, _result, on) => (seen.push('post-execute'), on()))
          own.tools.guard('second', () => void seen.push('guard'))
        })
      }
      return next()
    })
  })
  await bench.call('probe')
  expect(seen).toEqual(['guard', 'post-execute'])
})

// 13.4
it('a plugin that unloads while its listener runs has thrown, and its listeners behind it are not called', async () => {
  const events = ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const
  for (const [event, listeners] of events.flatMap(
    (name) =>
      [
        [name, 1],
        [name, 2],
      ] as const,
  )) {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const hold = deferred()
    let entered = 0
    const plugin = await bench.plugin('leaving', (ctx) => {
      const listener = async (...all: unknown[]) => {
        entered++
        await hold.promise
        return (all.at(-1) as () => unknown)()
      }
      for (let order = 1; order <= listeners; order++) ctx.on(event as 'tools/prepare', listener as never, { order })
    })
    const label = `leaving#${plugin.uid}`
    const settling = bench.call('probe')
    await flushMicrotasks()
    await plugin.dispose()
    hold.resolve()
    const { result } = await settling
    const after = event === 'tools/execute' || event === 'tools/post-execute'
    expect(result.outcome, event).toMatchObject({
      tag: after ? 'failed' : 'denied',
      code: 'LISTENER_GONE',
      by: label,
    })
    expect(entered, event).toBe(1)
    expect(probe.runs).toBe(event === 'tools/post-execute' ? 1 : 0)
  }
})

// 13.4
it('a listener that is registered for one time answers that time, at once or later', async () => {
  const events = ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const
  for (const event of events) {
    const bench = await soundBench()
    await bench.register(tool('probe'))
    let entered = 0
    await bench.plugin('once', (ctx) => {
      const listener = async (...all: unknown[]) => {
        entered++
        await Promise.resolve()
        return (all.at(-1) as () => unknown)()
      }
      ctx.once(event as 'tools/prepare', listener as never)
    })
    for (let i = 0; i < 2; i++) expect((await bench.call('probe')).result.outcome.tag, event).toBe('succeeded')
    expect(entered, event).toBe(1)
  }
})

// 13.4
it('at whatever moment a plugin unloads, its code is not called afterwards and the call has one result', async () => {
  for (let moment = 0; moment < 40; moment++) {
    const bench = await soundBench()
    await bench.register(tool('probe'))
    let gone = false
    let late = 0
    const note = () => void (gone && late++)
    const plugin = await bench.plugin('leaving', (ctx) => {
      const pass = (async (...all: unknown[]) => {
        note()
        await Promise.resolve()
        return (all.at(-1) as () => unknown)()
      }) as never
      for (const event of ['tools/prepare', 'tools/pre-execute', 'tools/execute', 'tools/post-execute'] as const)
        ctx.on(event as 'tools/prepare', pass)
      ctx.on('tools/result', note)
      ctx.tools.guard('leaving', note as never)
      ctx.tools.register({
        ...tool('own'),
        execute: note,
        render: () => (note(), 'x'),
        finalizeContent: () => (note(), []),
        presentResult: note as never,
      })
    })
    const settling = Promise.all([bench.call('probe'), bench.call('own')])
    for (let i = 0; i < moment; i++) await Promise.resolve()
    await plugin.dispose()
    gone = true
    await settling
    expect([late, bench.results().length], `moment ${moment}`).toEqual([0, 2])
  }
})
