import { createContext, runInContext } from 'node:vm'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import type { Call, Run } from '@sluice/tools'
import { describe, expect, test } from 'vitest'
import { judges, stepOf } from './listeners.ts'
import { soundBench } from './sound.ts'

const fields = [
  'id',
  'tool',
  'args',
  'agent',
  'parent',
  'signal',
  'session',
  'annotations',
  'card',
  'specifier',
] as const

/** Every way to change a call that can be thought of; each either throws or does nothing. */
function attacks(call: Call): (() => unknown)[] {
  const loose = call as unknown as Record<string, unknown>
  const fake = AbortSignal.abort('forged')
  return [
    ...fields.flatMap((field) => [
      () => (loose[field] = field === 'signal' ? fake : 'forged'),
      () => delete loose[field],
      () => Object.defineProperty(call, field, { value: 'forged' }),
    ]),
    () => Object.setPrototypeOf(call, { tool: 'forged' }),
    () => Object.assign(call, { extra: 1 }),
    () => Object.assign(call.args, { path: 'forged' }),
    () => (call.args['list'] as unknown[]).push('forged'),
    () => Object.setPrototypeOf(call.args, { forged: true }),
    () => Object.assign(call.annotations, { readOnly: true }),
    () => (call.aliases as string[]).push('Forged'),
    () => Object.assign(call.card, { title: 'forged' }),
  ]
}

// 2.7
describe('the call that listeners see', () => {
  test('cannot be changed by any listener or guard, whatever it tries', async () => {
    const bench = await soundBench()
    const probe = probeTool({ aliases: ['Probe'], specifier: () => 'spec' })
    await bench.register(probe.definition)
    const seen: unknown[] = []
    const attack = (call: Call) => {
      const before = fields.map((field) => call[field])
      for (const one of attacks(call))
        try {
          one()
        } catch {
          // A refused change may throw.
        }
      seen.push(fields.every((field, i) => call[field] === before[i]))
      seen.push(call.tool, call.args, call.annotations.readOnly, call.aliases, call.card, call.signal.aborted)
    }
    await bench.plugin('attacks', (ctx) => {
      ctx.on('tools/prepare', (call, next) => (attack(call), next()))
      ctx.on('tools/pre-execute', (call, next) => (attack(call), next()))
      ctx.on('tools/execute', (call, _run, next) => (attack(call), next()))
      ctx.on('tools/post-execute', (call, _result, next) => (attack(call), next()))
      ctx.on('tools/result', (call) => attack(call))
      ctx.tools.guard('attacks', (call) => (attack(call), undefined))
    })
    const { result } = await bench.call('probe', { path: 'a', list: [1] }, { agent: 'main' })
    expect(result.outcome.tag).toBe('succeeded')
    const card = { v: 1, kind: 'generic', title: 'probe', text: '{"path":"a","list":[1]}' }
    const once = [true, 'probe', { path: 'a', list: [1] }, false, ['Probe'], card, false]
    expect(seen).toEqual(Array.from({ length: 6 }, () => once).flat())
    expect(probe.args).toEqual([{ path: 'a', list: [1] }])
    expect(({} as { forged?: unknown }).forged).toBeUndefined()
  })

  test('cannot be changed either when the call was not admitted, and shares nothing with another such call', async () => {
    const bench = await soundBench()
    const seen: unknown[] = []
    await bench.plugin('attacks', (ctx) => {
      ctx.on('tools/result', (call) => {
        for (const one of [...attacks(call), () => (call.aliases as string[]).push('Forged')])
          try {
            one()
          } catch {
            // A refused change may throw.
          }
        seen.push([call.tool, call.args, call.aliases, call.annotations.readOnly])
      })
    })
    for (const tool of ['nowhere', 'elsewhere']) await bench.call(tool, { list: [1] })
    expect(seen).toEqual([
      ['nowhere', {}, [], false],
      ['elsewhere', {}, [], false],
    ])
  })

  test('has nothing by inheritance, so a copy made by spreading has all of it, the signal too', async () => {
    const bench = await soundBench()
    const abort = new AbortController()
    const reasons: unknown[] = []
    const copied = <T extends { readonly signal: AbortSignal }>(given: T) => {
      const copy = { ...given }
      expect(copy).toEqual(Object.fromEntries(Object.keys(given).map((key) => [key, given[key as keyof T]])))
      expect(Object.getPrototypeOf(given)).toBe(Object.prototype)
      expect(Object.isFrozen(given)).toBe(true)
      copy.signal.addEventListener('abort', () => reasons.push(copy.signal.reason))
    }
    const body = (_args: unknown, run: Run) => (copied(run), abort.abort('enough'), null)
    await bench.register(probeTool({ body }).definition)
    await bench.plugin('copies', (ctx) => {
      ctx.on('tools/execute', (call, run, next) => (copied(call), copied(run), next()))
    })
    await bench.call('probe', {}, { signal: abort.signal })
    expect(reasons).toEqual(['enough', 'enough', 'enough'])
  })

  // 2.2
  test('has well-formed texts only, also where a definition or the model cuts one in two', async () => {
    const bench = await soundBench()
    await bench.register(probeTool({ specifier: ({ path }) => String(path).slice(0, 3) }).definition)
    const seen: (string | undefined)[] = []
    await bench.plugin('watch', (ctx) => {
      ctx.on('tools/result', ({ specifier, card }) => void seen.push(specifier, card.title))
    })
    await bench.call('probe', { path: 'ab😀' })
    await bench.call(`${'x'.repeat(99)}😀`)
    expect(seen).toEqual(['ab\ufffd', 'probe', undefined, `${'x'.repeat(99)}\ufffd`])
  })

  test('has no specifier where the definition gives no text, and a promise of one does no harm', async () => {
    const bench = await soundBench()
    const answers: unknown[] = [
      5,
      { toWellFormed: () => 'forged' },
      Promise.resolve('late'),
      Promise.reject(new Error()),
    ]
    let answer: unknown
    await bench.register(probeTool({ specifier: () => answer as string }).definition)
    const seen: unknown[] = []
    await bench.plugin('watch', (ctx) => void ctx.on('tools/result', ({ specifier }) => void seen.push(specifier)))
    for (answer of answers) await bench.call('probe')
    await flushMicrotasks()
    expect(seen).toEqual(answers.map(() => undefined))
  })

  test('a refused change that reaches the executor is recorded with the name of the plugin', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const [fiber] = await judges(bench, {
      forger: (call, next) => {
        ;(call as { tool: string }).tool = 'bash'
        return next()
      },
    })
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject({
      tag: 'denied',
      by: `forger#${fiber?.uid}`,
      reason: expect.stringContaining('read only') as string,
    })
    expect(stepOf(settled, 'pre-execute')).toMatchObject({ outcome: 'threw', by: `forger#${fiber?.uid}` })
    expect(probe.runs).toBe(0)
  })

  test('a change from code that is not strict is without effect', async () => {
    const bench = await soundBench()
    const probe = probeTool()
    await bench.register(probe.definition)
    const sloppy = runInContext(
      '(function (call) { call.tool = "bash"; call.args.a = 2; delete call.id; call.signal = null; return { kind: "abstain" } })',
      createContext({}),
    ) as () => unknown
    await judges(bench, { sloppy })
    const { result } = await bench.call('probe', { a: 1 })
    expect(result).toMatchObject({ tool: 'probe', outcome: { tag: 'succeeded' } })
    expect(probe.args).toEqual([{ a: 1 }])
  })
})
