import { deferred, flushMicrotasks, probeTool } from '@sluice/testkit'
import type { Verdict } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { steps } from './kit.ts'
import { allow, ask, askedIn, bareName, deny, judges, saidBy, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

const readsOnce = (answer: object) => {
  const reads: string[] = []
  const proxy = new Proxy(answer, {
    get(target, key, receiver) {
      reads.push(String(key))
      return Reflect.get(target, key, receiver) as unknown
    },
  })
  return { proxy, reads }
}

// 4.1
describe('asking for verdicts', () => {
  test('listeners are asked one after another, also when nobody calls next()', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const log: string[] = []
    const slow = (name: string) => async () => {
      log.push(`${name} in`)
      await Promise.resolve()
      log.push(`${name} out`)
      return { kind: 'abstain' }
    }
    await judges(bench, { a: slow('a'), b: slow('b'), c: slow('c') })
    await bench.call('probe')
    expect(log).toEqual(['a in', 'a out', 'b in', 'b out', 'c in', 'c out'])
    expect(probe.runs).toBe(1)
  })

  test('next() gives the joined verdict of the listeners after it, frozen, and the same one each time', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const seen: Verdict[] = []
    let asked = 0
    await judges(bench, {
      outer: async (_call, next) => {
        seen.push(await next(), await next(), ...(await Promise.all([next(), next()])))
        return { kind: 'abstain' }
      },
      mild: () => (asked++, ask('mild')),
      strict: () => (asked++, deny('strict')),
    })
    await bench.call('probe')
    expect(seen[0]).toEqual({ kind: 'deny', reason: 'strict' })
    expect(new Set(seen).size).toBe(1)
    expect(Object.isFrozen(seen[0])).toBe(true)
    expect(asked).toBe(2)
  })

  test('next() gives a frozen verdict whatever is behind it: an allow, or a failure', async () => {
    for (const inner of [() => allow, () => 'nonsense']) {
      const bench = await soundBench()
      await bench.register(probeTool().definition)
      let seen: Verdict | undefined
      await judges(bench, { hooks: async (_call, next) => (seen = await next()), permissions: inner })
      await bench.call('probe')
      expect(seen?.kind).toMatch(/^(allow|deny)$/)
      expect(Object.isFrozen(seen)).toBe(true)
    }
  })

  // 6.3
  test('offers that next() hands out can be changed by nobody', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await judges(bench, {
      outer: async (_call, next) => {
        const { offers } = (await next()) as unknown as { offers: { text: string }[] }
        Reflect.set(offers, 1, { id: 'more', text: 'bash' })
        Reflect.set(offers[0] as object, 'text', 'bash')
        return { kind: 'abstain' }
      },
      asks: () => ({ kind: 'ask', reason: 'may it?', offers: [{ id: 'this', text: 'probe(x)' }] }),
    })
    const said = saidBy(await bench.call('probe'), 'asks')
    expect(said.offers).toEqual([{ id: 'this', text: 'probe(x)' }])
  })

  test('the innermost next() abstains', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    let last: Verdict | undefined
    await judges(bench, { only: async (_call, next) => (last = await next()) })
    await bench.call('probe')
    expect(last).toEqual({ kind: 'abstain' })
    expect(Object.isFrozen(last)).toBe(true)
  })
})

// 4.2
describe('the strictest verdict wins', () => {
  test('an outer allow, ask or abstention never hides an inner deny', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    for (const said of [allow, ask('a question'), { kind: 'abstain' } as const])
      for (const outer of [
        () => said,
        async () => said,
        async (_call: unknown, next: () => PromiseLike<Verdict>) => (await next(), said),
        (_call: unknown, next: () => PromiseLike<Verdict>) => (void next(), said),
        async (_call: unknown, next: () => PromiseLike<Verdict>) => (await next(), await next(), said),
      ]) {
        const fibers = await judges(bench, { permissions: outer, inner: async () => deny('never') })
        const { result, data } = await bench.call('probe')
        expect(result.outcome).toMatchObject({ tag: 'denied', reason: 'never', executed: 'no' })
        expect(data.outcome).toBe(result.outcome)
        for (const fiber of fibers) await fiber.dispose()
      }
    expect(probe.runs).toBe(0)
  })

  test('a deny ends the stage: nobody after it is asked', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    let asked = 0
    await judges(bench, { first: () => deny('first'), second: () => (asked++, allow) })
    const settled = await bench.call('probe')
    expect(asked).toBe(0)
    expect(askedIn(settled)).toEqual(['first:deny'])
    expect(steps(settled)).toEqual([
      'admit:admitted',
      'prepare:ready',
      'pre-execute:deny',
      'denied:denied',
      'post-execute:accept',
      'finalize:finalized',
      'result:recorded',
    ])
  })

  test('a deny waits for listeners that were already entered, and they change nothing', async () => {
    const late: (() => unknown)[] = [
      () => allow,
      () => deny('late'),
      () => undefined,
      () => {
        throw new Error('late')
      },
    ]
    for (const answer of late) {
      const bench = await soundBench()
      await bench.register(probeTool().definition)
      const held = deferred()
      await judges(bench, {
        outer: (_call, next) => (void next(), deny('outer')),
        entered: async () => (await held.promise, answer()),
        never: () => deny('never asked'),
      })
      let settled = false
      const call = bench.call('probe').finally(() => (settled = true))
      await flushMicrotasks()
      expect(settled).toBe(false)
      held.resolve()
      const { result } = await call
      expect(result.outcome).toMatchObject({ tag: 'denied', stage: 'pre-execute', reason: 'outer' })
      expect(bareName((result.outcome as { by: string }).by)).toBe('outer')
      expect(askedIn(await call)).not.toContain('never:deny')
    }
  })

  test('a throw waits for listeners that were already entered too', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const held = deferred()
    await judges(bench, {
      outer: (_call, next) => {
        void next()
        throw new Error('outer')
      },
      entered: () => held.promise.then(() => allow),
    })
    let settled = false
    const call = bench.call('probe').finally(() => (settled = true))
    await flushMicrotasks()
    expect(settled).toBe(false)
    held.resolve()
    expect((await call).result.outcome).toMatchObject({ tag: 'denied', reason: 'outer', code: 'LISTENER_FAILED' })
  })

  test('an inner deny stands with its own reason and rule whatever the outer listener does afterwards', async () => {
    const outers: ((call: unknown, next: () => PromiseLike<Verdict>) => unknown)[] = [
      async (_call, next) => {
        await next()
        throw new Error('outer is broken')
      },
      async (_call, next) => (await next(), deny('outer denies too')),
      async (_call, next) => (await next(), 'nonsense'),
      async (_call, next) => (await next(), new Promise(() => {})),
      async (_call, next) => ({ ...(await next()), reason: 'retold' }),
      async (_call, next) => (await next(), ask('outer asks')),
    ]
    for (const outer of outers) {
      const bench = await soundBench()
      await bench.register(probeTool().definition)
      await judges(bench, { outer, inner: () => ({ kind: 'deny', reason: 'inner', rule: 'r1', remedy: 'Try less.' }) })
      const settled = await bench.call('probe')
      expect(settled.result.outcome).toMatchObject({ tag: 'denied', stage: 'pre-execute', reason: 'inner', rule: 'r1' })
      expect(bareName((settled.result.outcome as { by: string }).by)).toBe('inner')
      expect(settled.result.content).toMatchObject([{ text: expect.stringContaining('Try less.') as string }])
    }
  })

  test('on a tie the first decides, and all questions are put as one', async () => {
    const asks: unknown[] = []
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await bench.ctx.plugin({
      name: 'approval',
      provide: ['approval'],
      apply: (ctx) =>
        void ctx.provide('approval', {
          ask: async (request: { asks: unknown }) => (asks.push(request.asks), { decision: 'rejected', by: 'me' }),
        } as never),
    })
    await judges(bench, { permissions: () => allow, a: () => ask('one'), b: async () => ask('two') })
    const settled = await bench.call('probe')
    expect(bareName(stepOf(settled, 'pre-execute').by ?? '')).toBe('a')
    expect(asks).toMatchObject([[{ reason: 'one' }, { reason: 'two' }]])
  })

  test('next() called after the stage has been left asks nobody again', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const kept: (() => PromiseLike<Verdict>)[] = []
    let asked = 0
    await judges(bench, {
      keeps: (_call, next) => (kept.push(next), { kind: 'abstain' }),
      counts: () => (asked++, asked > 1 ? deny('twice') : allow),
    })
    expect((await bench.call('probe')).result.outcome.tag).toBe('succeeded')
    expect(await kept[0]?.()).toEqual({ kind: 'abstain' })
    expect(asked).toBe(1)
  })

  test('next() called late by a listener that denied, or threw, asks nobody', async () => {
    for (const end of [
      () => deny('no'),
      () => {
        throw new Error('no')
      },
    ]) {
      const bench = await soundBench()
      await bench.register(probeTool().definition)
      const kept: (() => PromiseLike<Verdict>)[] = []
      let asked = 0
      await judges(bench, { keeps: (_call, next) => (kept.push(next), end()), counts: () => (asked++, allow) })
      await bench.call('probe')
      expect(await kept[0]?.()).toEqual({ kind: 'abstain' })
      expect(asked).toBe(0)
    }
  })

  test('a verdict is copied when it is given: later changes and second reads see nothing', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const mutable = { kind: 'deny', reason: 'as given', rule: 'r' }
    const { proxy, reads } = readsOnce({ kind: 'deny', reason: 'proxied' })
    const [first] = await judges(bench, {
      outer: async (_call, next) => {
        const seen = await next()
        Object.assign(mutable, { kind: 'allow', reason: 'changed' })
        return seen
      },
      inner: () => mutable,
    })
    expect((await bench.call('probe')).result.outcome).toMatchObject({ tag: 'denied', reason: 'as given' })
    await first?.dispose()
    await judges(bench, { 'a-proxy': () => proxy })
    await bench.call('probe')
    for (const field of ['kind', 'reason', 'rule', 'remedy'])
      expect(reads.filter((read) => read === field).length).toBeLessThanOrEqual(1)
  })
})

// 4.3
describe('who may allow', () => {
  test('an allow counts only from plugins that may allow, from others it is recorded as void', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny' } })
    const probe = probeTool()
    await bench.register(probe.definition)
    const [stranger] = await judges(bench, { stranger: () => ({ kind: 'allow', reason: 'trust me' }) })
    const refused = await bench.call('probe')
    expect(refused.result.outcome).toMatchObject({ tag: 'denied', by: 'otherwise' })
    expect(askedIn(refused)).toEqual(['stranger:allow (void)'])
    expect(probe.runs).toBe(0)
    await stranger?.dispose()
    await judges(bench, { permissions: () => ({ kind: 'allow', rule: 'probe' }) })
    const allowed = await bench.call('probe')
    expect(allowed.result.outcome.tag).toBe('succeeded')
    expect(saidBy(allowed, 'permissions')).toMatchObject({ said: 'allow', rule: 'probe' })
    expect(bareName(stepOf(allowed, 'pre-execute').by ?? '')).toBe('permissions')
  })

  test('the composition says who may allow', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny', mayAllow: ['house-rules'] } })
    const probe = probeTool()
    await bench.register(probe.definition)
    await judges(bench, { permissions: () => allow })
    await bench.call('probe')
    expect(probe.runs).toBe(0)
    await judges(bench, { 'house-rules': () => allow })
    await bench.call('probe')
    expect(probe.runs).toBe(1)
  })

  test('returning what next() gave, or a copy of it, makes nobody allow', async () => {
    const bench = await soundBench({ config: { otherwise: 'deny' } })
    const probe = probeTool()
    await bench.register(probe.definition)
    let kept: Verdict | undefined
    const [, second] = await judges(bench, {
      copies: async (_call, next) => ({ ...(await next()) }),
      permissions: async (_call, next) => ((kept = await next()), allow),
    })
    expect(askedIn(await bench.call('probe'))).toEqual(['copies:allow (void)', 'permissions:allow'])
    expect(probe.runs).toBe(1)
    await second?.dispose()
    await judges(bench, { replays: () => kept ?? allow, 'replays-an-allow': () => Object.freeze({ ...allow }) })
    await bench.call('probe')
    expect(probe.runs).toBe(1)
  })
})
