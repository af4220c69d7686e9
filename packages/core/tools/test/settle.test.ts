/** Proves the end of a call: what a throw becomes, and how the result is announced. */
import { planRepair, openWork } from '@sluice/session'
import { traceOf, type ToolDefinition } from '@sluice/tools'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { badStep } from './kit.ts'
import { soundBench } from './sound.ts'

// 9.1
it('whatever a plugin throws, and wherever, the caller gets a well-formed result', async () => {
  const thrown: unknown[] = [undefined, null, 'text', 5n, new Error('boom'), Symbol('s'), Object.create(null)]
  thrown.push(
    new Proxy(new Error('trap'), {
      get: () => {
        throw new Error('do not look')
      },
      getPrototypeOf: () => {
        throw new Error('do not ask')
      },
    }),
  )
  const places = [
    'tools/prepare',
    'tools/pre-execute',
    'tools/execute',
    'tools/post-execute',
    'tools/result',
    'guard',
    'body',
    'overlap',
    'render',
    'finalizeContent',
    'presentCall',
    'presentResult',
    'specifier',
  ]
  for (const place of places) {
    const bench = await soundBench()
    let reason: unknown
    const raise = () => {
      throw reason
    }
    const broken = { [place]: raise } as Partial<ToolDefinition>
    await bench.register(probeTool({ ...(place === 'body' ? { body: raise } : broken) }).definition)
    await bench.plugin('thrower', (ctx) => {
      if (place.startsWith('tools/')) ctx.on(place as 'tools/result', raise)
      if (place === 'guard') ctx.tools.guard('thrower', raise)
    })
    for (reason of thrown) {
      const settled = await bench.call('probe')
      expect(badStep(settled), place).toBeUndefined()
      expect(settled.result.content.length, place).toBeGreaterThan(0)
    }
    expect(bench.results(), place).toHaveLength(thrown.length)
  }
})

// 9.1
it('a throw publishes its code, its plugin and whether the body ran', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => 'secret' }).definition)
  const coded = Object.assign(new Error('sorry'), { name: 'SluiceError', code: 'MY_CODE' })
  const events = [
    ['tools/prepare', 'denied', 'no'],
    ['tools/pre-execute', 'denied', 'no'],
    ['tools/execute', 'failed', 'no'],
    ['tools/post-execute', 'failed', 'yes'],
  ] as const
  for (const [event, tag, executed] of events) {
    const plugin = await bench.plugin('thrower', (ctx) => {
      ctx.on(event as 'tools/result', () => {
        throw coded
      })
    })
    const { result, data } = await bench.call('probe')
    expect(result.outcome).toMatchObject({ tag, executed, code: 'MY_CODE', by: `thrower#${plugin.uid}` })
    expect(result.value).toBeUndefined()
    expect(JSON.stringify(data)).not.toContain('secret')
    const step = traceOf(data)?.find(({ outcome }) => outcome === 'threw')
    expect(step).toMatchObject({ stage: event.slice(6), code: 'MY_CODE', by: `thrower#${plugin.uid}`, reason: 'sorry' })
    await plugin.dispose()
  }
})

// 9.2
it('an outcome has one of eight tags, each with executed', async () => {
  const bench = await soundBench({ config: { graceMs: 10 } })
  const abort = new AbortController()
  await bench.register(
    probeTool({
      overlap: 'parallel',
      parameters: { type: 'object', properties: { as: { type: 'string' } }, required: ['as'] },
      body: ({ as }) => {
        if (as === 'failed') throw new Error('it broke')
        if (as === 'aborted') abort.abort()
        return as === 'succeeded' ? 1 : new Promise(() => {})
      },
    }).definition,
  )
  await bench.plugin('rules', (ctx) => {
    ctx.tools.guard('no', (call) => (call.args['as'] === 'denied' ? 'not today' : undefined))
    ctx.on('tools/execute', (_call, run, next) => {
      run.deadline(50)
      return next()
    })
  })
  const outcomes: string[] = []
  for (const as of ['succeeded', 'failed', 'denied', 'timed-out', 'aborted', undefined]) {
    const args = as === undefined ? {} : { as }
    const { outcome } = (await bench.call('probe', args, as === 'aborted' ? { signal: abort.signal } : {})).result
    outcomes.push(`${outcome.tag} ${outcome.executed}`)
  }
  const { outcome } = (await bench.call('prob')).result
  outcomes.push(`${outcome.tag} ${outcome.executed}`)
  expect(outcomes).toEqual([
    'succeeded yes',
    'failed yes',
    'denied no',
    'timed-out unknown',
    'aborted unknown',
    'invalid no',
    'unknown-tool no',
  ])
  const session = await bench.ctx.sessions.create({ cwd: '/proj' })
  const card = { v: 1, kind: 'generic', title: 'x' } as const
  session.append('tool/call', { callId: 'x', tool: 'x', argumentsText: '', readOnly: false, card, batch: 1, index: 0 })
  expect(planRepair(session.fold(openWork))).toMatchObject([
    { type: 'tool/result', data: { outcome: { tag: 'interrupted', executed: 'no' } } },
  ])
})

// 9.4
it('listeners, log and caller see the same frozen result, and listeners see it before the log has it', async () => {
  const bench = await soundBench()
  await bench.register(probeTool({ body: () => ({ a: [1] }) }).definition)
  const seen: unknown[] = []
  await bench.plugin('watch', (ctx) => {
    ctx.on('tools/result', (call, result) => {
      seen.push(result, call.id, bench.results().length)
    })
  })
  const settled = await bench.call('probe')
  expect(seen).toEqual([settled.result, 'c1', 0])
  expect(seen[0]).toBe(settled.result)
  expect(bench.results()).toEqual([settled.data])
  expect(bench.results()[0]).toBe(settled.data)
  expect(settled.data.content).toBe(settled.result.content)
  expect(settled.data.value).toBe(settled.result.value)
  for (const part of [settled, settled.result, settled.data, settled.data.outcome, settled.data.card])
    expect(Object.isFrozen(part)).toBe(true)
})

// 9.4
it('a listener of tools/result that throws, rejects or hangs is reported and changes nothing for others', async () => {
  const bench = await soundBench({ config: { listenerTimeoutMs: 100 } })
  await bench.register(probeTool().definition)
  const told: string[] = []
  const listeners: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('tripped')
      },
    ],
    ['rejects', () => Promise.reject(new Error('stumbled'))],
    ['hangs', () => new Promise(() => {})],
    ['fine', () => told.push('fine')],
  ]
  const names: string[] = []
  for (const [order, [name, listener]] of listeners.entries()) {
    const plugin = await bench.plugin(name, (ctx) => {
      ctx.on('tools/result', listener as () => void, { order })
    })
    names.push(`${name}#${plugin.uid}`)
  }
  const { result } = await bench.call('probe')
  expect(result.outcome.tag).toBe('succeeded')
  expect(told).toEqual(['fine'])
  expect(bench.world.clock.monotonic()).toBe(0)
  await flushMicrotasks()
  await bench.world.clock.runUntilIdle()
  expect(bench.reports).toEqual([
    expect.stringContaining(`${names[0]} failed in tools/result: tripped`),
    expect.stringContaining(`${names[1]} failed in tools/result: stumbled`),
    expect.stringContaining(`${names[2]} failed in tools/result: tools/result: no answer within 100 ms`),
  ])
})

// 9.4
it('where messages for people go does not matter to a call', async () => {
  const bench = await soundBench()
  bench.ctx.logger.exporter({
    levels: { default: 0, tools: 3 },
    export: () => {
      throw new Error('no terminal')
    },
  })
  await bench.register(probeTool().definition)
  await bench.plugin('throws', (ctx) => {
    ctx.on('tools/result', () => {
      throw new Error('tripped')
    })
  })
  expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
})
