import { isSluiceError } from '@sluice/base'
import { deferred, simWorld } from '@sluice/testkit'
import { Context } from 'cordis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compose, type ComposeOptions, diagnose, mounted } from '../src/index.ts'

declare module 'cordis' {
  interface Context {
    one: unknown
    two: unknown
  }
  interface Events {
    'compose-test/ping'(): void
  }
}

const FILE = '/app/sluice.yml'

/** Plugins by name, as modules: `needs → gives`. */
function plugin(
  name: string,
  needs: string[],
  gives: string[],
  body: (ctx: Context, config: unknown) => unknown = () => {},
) {
  return {
    name,
    inject: needs,
    provide: gives,
    apply: (ctx: Context, config: unknown) => {
      for (const service of gives) ctx.provide(service, { from: name })
      const result = body(ctx, config)
      return result instanceof Promise ? result : undefined
    },
  }
}

const broken = (name: string, needs: string[], gives: string[]) => ({
  ...plugin(name, needs, gives),
  apply: () => {
    throw new Error('the disk is on fire')
  },
})

describe('composing', () => {
  let ctx: Context
  beforeEach(() => {
    ctx = new Context()
  })
  afterEach(async () => {
    await ctx.fiber.dispose()
  })

  function start(text: string, modules: Record<string, unknown>, options: Partial<ComposeOptions> = {}) {
    const world = simWorld({ files: { [FILE]: text } })
    const importer = async (name: string) => {
      if (!(name in modules)) throw new Error(`no module ${name}`)
      return modules[name]
    }
    return compose(ctx, { file: FILE, world, importer, ...options })
  }

  async function refusal(running: Promise<unknown>) {
    const error: unknown = await running.catch((reason: unknown) => reason)
    if (!isSluiceError(error)) throw error
    return error
  }

  it('mounts every entry with its configuration and waits until all are active', async () => {
    const seen: unknown[] = []
    const modules = {
      user: plugin('user', ['one'], [], (own, config) => seen.push(own.one, config)),
      giver: plugin('giver', [], ['one']),
    }
    const composed = await start('- name: user\n  config: { deep: [1] }\n- name: giver', modules)
    expect(seen).toEqual([{ from: 'giver' }, { deep: [1] }])
    expect(composed.entries.map((entry) => entry.id)).toEqual(['user', 'giver'])
    expect(await composed.diagnose()).toEqual({ failed: [], pending: [], unsettled: [], cycles: [] })
  })

  it('mounts in file order, however long each import takes', async () => {
    const order: string[] = []
    const modules: Record<string, unknown> = {
      slow: plugin('slow', [], [], () => order.push('slow')),
      fast: plugin('fast', [], [], () => order.push('fast')),
    }
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const importer = async (name: string) => {
      if (name === 'slow') await held
      else release()
      return modules[name]
    }
    await start('- name: slow\n- name: fast', modules, { importer })
    expect(order).toEqual(['slow', 'fast'])
  })

  it('leaves a disabled entry out and does not import it', async () => {
    await start('- name: absent\n  disabled: true\n- name: giver', { giver: plugin('giver', [], ['one']) })
    expect(mounted(ctx).flatMap((one) => one.entry ?? [])).toEqual(['giver'])
  })

  it('lets the host configure, drop and add entries before they are mounted', async () => {
    const seen: unknown[] = []
    const modules = {
      kept: plugin('kept', [], [], (_own, config) => seen.push(config)),
      added: plugin('added', [], [], () => seen.push('added')),
    }
    await start('- name: kept\n  config: { a: 1, b: 1 }\n- name: dropped', modules, {
      adjust: (entries) => [
        ...entries
          .filter((entry) => entry.id !== 'dropped')
          .map((entry) => ({ ...entry, config: { ...entry.config, b: 2 } })),
        { id: 'added', name: 'added', config: undefined, disabled: false, line: 0 },
      ],
    })
    expect(seen).toEqual([{ a: 1, b: 2 }, 'added'])
  })

  it('unmounts everything it has mounted, and nothing stays behind', async () => {
    const before = [mounted(ctx), ctx.fiber.getEffects(), Reflect.ownKeys(ctx.reflect.store)]
    const modules = {
      user: plugin('user', ['one'], [], (own) => own.on('compose-test/ping', () => {})),
      giver: plugin('giver', [], ['one'], (own) => void own.plugin(plugin('child', ['one'], []))),
    }
    const composed = await start('- name: user\n- name: giver', modules)
    expect(mounted(ctx).map((one) => one.name)).toContain('child')
    await composed.dispose()
    expect([mounted(ctx), ctx.fiber.getEffects(), Reflect.ownKeys(ctx.reflect.store)]).toEqual(before)
    const hooks: Record<string, unknown[]> = ctx.events._hooks
    expect(hooks['compose-test/ping']).toEqual([])
    await start('- name: giver', modules)
  })

  it('that finds no file says so with the path', async () => {
    const error = await refusal(compose(ctx, { file: '/app/other.yml', world: simWorld(), importer: async () => ({}) }))
    expect(error.code).toBe('COMPOSE_UNREADABLE')
    expect(error.message).toBe('cannot read the composition /app/other.yml: there is no such file')
  })

  it.each([
    [null, 'it is a directory'],
    [{ kind: 'fifo' as const }, 'it is a fifo'],
    [new Uint8Array(1024 * 1024 + 1), 'more than 1048576'],
    [new Uint8Array([0xff]), 'not valid'],
  ])('refuses what is no file, too long or no text: %#', async (seed, problem) => {
    const world = simWorld({ files: { '/app/odd.yml': seed } })
    const error = await refusal(compose(ctx, { file: '/app/odd.yml', world, importer: async () => ({}) }))
    expect(error.code).toBe('COMPOSE_UNREADABLE')
    expect(error.message).toContain(problem)
  })

  it('that meets a failing plugin names it, its line, the reason and who depends on it, and unmounts all', async () => {
    const modules = {
      broken: broken('broken', [], ['one']),
      user: plugin('user', ['one'], ['two']),
      far: plugin('far', ['two'], []),
      well: plugin('well', [], []),
    }
    const error = await refusal(start('- name: well\n- name: broken\n- name: user\n- name: far', modules))
    expect(error.code).toBe('COMPOSE_NOT_READY')
    expect(error.message).toBe(
      [
        '/app/sluice.yml is not ready',
        '1 plugin failed, 2 plugins are waiting',
        'failed   broken (line 2): the disk is on fire',
        '         waiting for it: far, user',
        'waiting  far needs two from user, which is waiting itself',
        'waiting  user needs one from broken, which failed',
      ].join('\n'),
    )
    expect(mounted(ctx)).toEqual([])
  })

  it('that meets a module that cannot be imported, or is no plugin, names it in the same way', async () => {
    const modules = { odd: { name: 'odd' }, user: plugin('user', ['one'], []) }
    const error = await refusal(start('- name: absent\n- name: odd\n- name: user', modules))
    expect(error.message).toContain('failed   absent (line 1): no module absent')
    expect(error.message).toContain('failed   odd (line 2): invalid plugin')
    expect(error.message).toContain('waiting  user needs one, which no plugin of the composition provides')
  })

  it('that meets a refused configuration shows every problem of it', async () => {
    const Config = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ issues: [{ message: 'is no number', path: ['size'] }, { message: 'is too long' }] }),
      },
    }
    const error = await refusal(start('- name: strict', { strict: { ...plugin('strict', [], []), Config } }))
    expect(error.message).toContain('failed   strict (line 1): invalid config:')
    expect(error.message).toContain('is no number (at size)')
    expect(error.message).toContain('is too long')
  })

  it('finds a plugin that failed inside another plugin', async () => {
    const modules = { outer: plugin('outer', [], [], (own) => void own.plugin(broken('inner', [], []))) }
    const error = await refusal(start('- name: outer', modules))
    expect(error.message).toContain('failed   inner (in outer): the disk is on fire')
  })

  it('shows plugins that wait for each other as a circle', async () => {
    const modules = {
      a: plugin('a', ['two'], ['one']),
      b: plugin('b', ['one'], ['two']),
      outside: plugin('outside', ['one'], []),
    }
    const error = await refusal(start('- name: b\n- name: outside\n- name: a', modules))
    expect(error.message).toContain('circle   a → b → a')
    expect(error.data).toMatchObject({ diagnosis: { cycles: [['a', 'b', 'a']] } })
  })

  it('does not count as missing what a plugin waits for inside another plugin', async () => {
    const modules = { outer: plugin('outer', [], [], (own) => void own.inject(['one'], () => {})) }
    await start('- name: outer', modules)
    expect(mounted(ctx).map((one) => one.state)).toContain('pending')
  })

  it('gives up on a plugin that does not settle in time and names it', async () => {
    const held = deferred<void>()
    const modules = { stuck: plugin('stuck', [], [], () => held.promise) }
    const world = simWorld({ autoAdvance: true, files: { [FILE]: '- name: stuck' } })
    const startedAt = world.clock.now()
    const error = await refusal(start('', modules, { world, settleMs: 500 }))
    // Once for the plugins to settle, once for them to unload.
    expect(world.clock.now() - startedAt).toBe(1000)
    expect(error.message).toContain('1 plugin has not settled in time\nloading  stuck')
    held.resolve()
  })

  it('keeps what is mounted when the host asks for it, and tells what is missing', async () => {
    const modules = { user: plugin('user', ['one'], []), giver: plugin('giver', [], ['two']) }
    const composed = await start('- name: user\n- name: giver', modules, { incomplete: 'keep' })
    expect(mounted(ctx).map((one) => [one.name, one.state])).toEqual(
      expect.arrayContaining([
        ['user', 'pending'],
        ['giver', 'active'],
      ]),
    )
    expect((await composed.diagnose()).pending).toEqual([
      { plugin: 'user', missing: [{ service: 'one', providers: [] }] },
    ])
  })

  it('names first what waits for a service that nobody gives, and then those that wait for it', async () => {
    const modules = {
      a: plugin('a', ['two'], []),
      b: plugin('b', ['three'], []),
      root: plugin('root', ['one'], ['two']),
      source: plugin('source', ['two'], ['three']),
    }
    const composed = await start('- name: a\n- name: b\n- name: source\n- name: root', modules, { incomplete: 'keep' })
    const { pending } = await composed.diagnose()
    expect(pending.map((one) => one.plugin)).toEqual(['root', 'a', 'b', 'source'])
  })

  it('can be asked what is wrong with plugins that were mounted by code', async () => {
    void ctx.plugin(plugin('user', ['one'], []))
    await ctx.plugin(broken('bad', [], [])).then(
      () => {},
      () => {},
    )
    const diagnosis = await diagnose(ctx)
    expect(diagnosis.failed.map((one) => [one.plugin, one.problem])).toEqual([['bad', 'the disk is on fire']])
    expect(diagnosis.pending.map((one) => one.plugin)).toEqual(['user'])
  })
})

describe('the live view', () => {
  it('shows each plugin with state, needs, services, listeners and who mounted it', async () => {
    const ctx = new Context()
    const outer = await ctx.plugin(
      plugin('outer', [], ['one'], (own) => {
        own.on('compose-test/ping', () => {})
        own.effect(function* () {
          yield own.on('compose-test/ping', () => {}, { prepend: true })
        })
        void own.plugin(plugin('inner', ['one'], []), { size: 1 })
      }),
      {},
    )
    await ctx.plugin(plugin('waiting', ['two'], []), {})
    const view = mounted(ctx)
    expect(view[0]?.effects).toContain('ctx.provide("one")')
    expect(view.map(({ uid: _uid, effects: _effects, ...rest }) => rest)).toEqual([
      {
        name: 'outer',
        entry: undefined,
        parent: 0,
        state: 'active',
        config: {},
        injects: [],
        provides: ['one'],
        listens: ['compose-test/ping', 'compose-test/ping'],
      },
      {
        name: 'inner',
        entry: undefined,
        parent: outer.uid,
        state: 'active',
        config: { size: 1 },
        injects: ['one'],
        provides: [],
        listens: [],
      },
      {
        name: 'waiting',
        entry: undefined,
        parent: 0,
        state: 'pending',
        config: undefined,
        injects: ['two'],
        provides: [],
        listens: [],
      },
    ])
    await ctx.fiber.dispose()
    expect(mounted(ctx)).toEqual([])
  })
})
