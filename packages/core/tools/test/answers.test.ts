import { defineErrors } from '@sluice/base'
import { probeTool } from '@sluice/testkit'
import { describe, expect, test } from 'vitest'
import { steps } from './kit.ts'
import { allow, ask, askedIn, deny, judges, saidBy, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

const errors = defineErrors({
  HOUSE_CLOSED: { when: 'in this test', message: () => 'the house is closed', remedy: 'Come back.' },
})

class Listish extends Array<unknown> {
  override map(): never[] {
    return []
  }
}

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cyclic = () => {
  const value: { self?: unknown } = {}
  value.self = value
  return value
}

/** What is no verdict, by what it is called in a failing assertion. */
const noVerdicts: Record<string, () => unknown> = {
  'a forgotten return': () => undefined,
  null: () => null,
  true: () => true,
  'a word': () => 'deny',
  'a number': () => 1,
  'a function': () => () => allow,
  'a list': () => [allow],
  'an empty object': () => ({}),
  'another word': () => ({ kind: 'ALLOW' }),
  'a boxed word': () => ({ kind: new String('allow') }),
  'a big kind': () => ({ kind: 1n }),
  'a symbol kind': () => ({ kind: Symbol('allow') }),
  'a kind that cannot be shown': () => ({ kind: Object.create(null) as object }),
  'a deny without a reason': () => ({ kind: 'deny' }),
  'a deny with an empty reason': () => deny(''),
  'a deny with a number for a reason': () => ({ kind: 'deny', reason: 5 }),
  'an ask without a reason': () => ({ kind: 'ask' }),
  'offers that are no list': () => ({ ...ask('x'), offers: 'all' }),
  'offers without text': () => ({ ...ask('x'), offers: [{ id: '1' }] }),
  'offers with null': () => ({ ...ask('x'), offers: [null] }),
  'offers with a hole': () => ({ ...ask('x'), offers: new Array(1) }),
  'an abstention whose offers are no list': () => ({ kind: 'abstain', offers: 'all' }),
  'offers of a class': () => ({ ...ask('x'), offers: Listish.from([{ id: 1, text: 2 }]) }),
  'a getter that fails': () => ({
    get kind() {
      throw new Error('no kind')
    },
  }),
  'a revoked proxy': revoked,
}

/** Where reading the answer fails, that failure is what is told. */
const codes: Record<string, string> = {
  'offers with a hole': 'JSON_NOT_LOSSLESS',
  'offers of a class': 'JSON_NOT_LOSSLESS',
  'a getter that fails': 'LISTENER_FAILED',
  'a revoked proxy': 'LISTENER_FAILED',
}

const thrown: Record<string, unknown> = {
  'an error': new Error('broken'),
  undefined: undefined,
  'a word': 'broken',
  'an object that cannot be shown': Object.create(null),
  'an error with a cycle': Object.assign(new Error('broken'), { cause: cyclic() }),
}

// 4.5
describe('strict decoding', () => {
  test('an answer that is no verdict is a throw of its plugin, and nothing runs', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    for (const [what, make] of Object.entries(noVerdicts))
      for (const answer of [make, async () => make()]) {
        const [fiber] = await judges(bench, { permissions: answer })
        const settled = await bench.call('probe')
        expect(settled.result.outcome, what).toMatchObject({
          tag: 'denied',
          executed: 'no',
          stage: 'pre-execute',
          by: `permissions#${fiber?.uid}`,
          code: codes[what] ?? 'TOOLS_BAD_ANSWER',
        })
        expect(steps(settled).slice(2, 4), what).toEqual(['pre-execute:threw', 'normalize:normalized'])
        await fiber?.dispose()
      }
    expect(probe.runs).toBe(0)
  })

  test('a forgotten return says what to do', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await judges(bench, { forgets: () => {} })
    const { result } = await bench.call('probe')
    expect(result.outcome).toMatchObject({
      code: 'TOOLS_BAD_ANSWER',
      reason: 'tools/pre-execute: undefined is no verdict; return next() to abstain',
    })
  })

  test('whatever a listener throws, the call is denied with plugin and code', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    for (const event of ['tools/prepare', 'tools/pre-execute'] as const)
      for (const [what, error] of Object.entries(thrown))
        for (const listener of [
          () => {
            throw error
          },
          () => Promise.reject(error),
        ]) {
          const fiber = await bench.plugin('breaks', (ctx) => void ctx.on(event, listener as never))
          const settled = await bench.call('probe')
          expect(settled.result.outcome, what).toMatchObject({
            tag: 'denied',
            executed: 'no',
            stage: event === 'tools/prepare' ? 'prepare' : 'pre-execute',
            by: `breaks#${fiber.uid}`,
            code: 'LISTENER_FAILED',
          })
          await fiber.dispose()
        }
    expect(probe.runs).toBe(0)
  })

  test('an expected failure of a listener keeps its code', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    await judges(bench, {
      closes: () => {
        throw errors('HOUSE_CLOSED', {})
      },
    })
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({ code: 'HOUSE_CLOSED', reason: 'the house is closed' })
    expect(stepOf(settled, 'pre-execute')).toMatchObject({ outcome: 'threw', code: 'HOUSE_CLOSED' })
  })

  test('a throw ends the asking, and its listener is recorded with what it threw', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    let asked = 0
    await judges(bench, {
      calm: (_call, next) => next(),
      breaks: () => {
        throw new Error('broken')
      },
      later: () => (asked++, allow),
    })
    const settled = await bench.call('probe')
    expect(asked).toBe(0)
    expect(askedIn(settled)).toEqual(['calm', 'breaks:threw'])
    expect(saidBy(settled, 'breaks')).toMatchObject({ said: 'threw', reason: 'broken' })
  })

  test('an outer listener cannot save a call whose inner listener threw', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    await judges(bench, {
      permissions: async (_call, next) => {
        await next()
        return allow
      },
      breaks: () => Promise.reject(new Error('inner')),
    })
    const { result } = await bench.call('probe')
    expect(result.outcome).toMatchObject({ tag: 'denied', reason: 'inner' })
    expect(probe.runs).toBe(0)
  })

  // 3.2
  test('arguments that a listener returns must be lossless JSON and an object', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const bad: Record<string, () => unknown> = {
      'a forgotten return': () => undefined,
      null: () => null,
      'a word': () => 'x',
      'a list': () => [],
      undefined: () => ({ a: undefined }),
      'not a number': () => ({ a: Number.NaN }),
      'a function': () => ({ a: () => 1 }),
      'a date': () => ({ a: new Date(0) }),
      'a big number': () => ({ a: 1n }),
      'a cycle': cyclic,
      'a hole': () => ({ a: new Array(1) }),
      'a revoked proxy': revoked,
    }
    for (const [what, make] of Object.entries(bad)) {
      const fiber = await bench.plugin('rewriter', (ctx) => void ctx.on('tools/prepare', make as never))
      const settled = await bench.call('probe', { a: 1 })
      expect(settled.result.outcome, what).toMatchObject({
        tag: 'denied',
        stage: 'prepare',
        by: `rewriter#${fiber.uid}`,
        code: expect.stringMatching(/^(TOOLS_BAD_ANSWER|LISTENER_FAILED|JSON_NOT_LOSSLESS)$/) as string,
      })
      await fiber.dispose()
    }
    expect(probe.runs).toBe(0)
    expect(bench.session.events.some((event) => event.type === 'tool/rewritten')).toBe(false)
  })
})
