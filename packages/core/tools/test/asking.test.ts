import { flushMicrotasks, probeTool } from '@sluice/testkit'
import type { ApprovalRequest } from '@sluice/tools'
import type { Fiber } from 'cordis'
import { describe, expect, test } from 'vitest'
import { makeBench, steps } from './kit.ts'
import { allow, ask, askedIn, bareName, deny, judges, stepOf, type VerdictListener } from './listeners.ts'
import { soundBench } from './sound.ts'

/** A bench whose every call is asked about, with a port that answers what `answer` says. */
async function asking(answer: (request: ApprovalRequest) => unknown, more: Parameters<typeof makeBench>[0] = {}) {
  const bench = await makeBench(more)
  const probe = probeTool()
  await bench.register(probe.definition)
  const port = (await bench.ctx.plugin({
    name: 'port',
    provide: ['approval'],
    apply: (ctx) => void ctx.provide('approval', { ask: answer } as never),
  })) as unknown as Fiber
  const mounted = await judges(bench, { asks: () => ask('may it?') })
  return { bench, probe, port, mounted }
}

const unavailable = {
  tag: 'denied',
  executed: 'no',
  stage: 'approval',
  reason: 'this needs the approval of a person, and nobody could be asked',
}

describe('the approval stage', () => {
  // 6.1, BUG-036
  test('without a service the call is denied at once, saying that nobody could be asked', async () => {
    const bench = await soundBench({ autoAdvance: false })
    const probe = probeTool()
    await bench.register(probe.definition)
    await judges(bench, { asks: () => ask('may it?') })
    const settled = await bench.call('probe')
    expect(settled.result.outcome).toMatchObject(unavailable)
    expect(settled.result.content).toMatchObject([{ text: expect.stringContaining('nobody could be asked') as string }])
    expect(bench.reports).toEqual([])
    expect(probe.runs).toBe(0)
  })

  // 6.1
  test('a permission is recorded with who gave it, and what they said besides is no reason', async () => {
    const bench = await soundBench()
    await bench.register(probeTool().definition)
    const answer = { decision: 'allowed-once', by: 'me', message: 'go on' }
    await bench.ctx.plugin({
      name: 'approval',
      provide: ['approval'],
      apply: (ctx) => void ctx.provide('approval', { ask: async () => answer } as never),
    })
    await judges(bench, { asks: () => ask('may it?') })
    const step = stepOf(await bench.call('probe'), 'approval')
    expect(step).toMatchObject({ outcome: 'allowed-once', by: 'me' })
    expect(step).not.toHaveProperty('reason')
  })

  // 6.1, BUG-036
  test('a service that throws, answers nonsense or answers what it cannot is no permission', async () => {
    const answers: Record<string, () => unknown> = {
      'a throw': () => {
        throw new Error('broken')
      },
      'a throw that cannot be shown': () => {
        throw Object.create(null)
      },
      'a rejection': () => Promise.reject(new Error('broken')),
      undefined: async () => undefined,
      true: async () => true,
      'a word': async () => 'allowed-once',
      'another word': async () => ({ decision: 'always', by: 'x' }),
      'a boxed word': async () => ({ decision: new String('allowed-once'), by: 'x' }),
      'a getter that throws': async () => ({
        get decision() {
          throw new Error('broken')
        },
      }),
    }
    for (const [what, answer] of Object.entries(answers)) {
      const { bench, probe } = await asking(answer)
      const settled = await bench.call('probe')
      expect(settled.result.outcome, what).toMatchObject(unavailable)
      expect(steps(settled)[4], what).toBe('approval:unavailable')
      expect(probe.runs).toBe(0)
    }
  })

  // 6.1, BUG-036
  test('a service that never answers and is unloaded is not waited for', async () => {
    const { bench, probe, port } = await asking(() => new Promise(() => {}), { autoAdvance: false })
    const running = bench.call('probe')
    await flushMicrotasks()
    await port.dispose()
    expect((await running).result.outcome).toMatchObject(unavailable)
    expect(probe.runs).toBe(0)
  })

  // 6.1
  test('the request carries the frozen call, its card, and every reason and rule', async () => {
    const requests: ApprovalRequest[] = []
    const { bench } = await asking(async (request) => (requests.push(request), { decision: 'rejected', by: 'me' }))
    await judges(bench, { more: () => ({ ...ask('and this?'), rule: 'r', offers: [{ id: '1', text: 'probe' }] }) })
    await bench.call('probe', { a: 1 })
    const [request] = requests
    expect(request?.call.args).toEqual({ a: 1 })
    expect(request?.card).toBe(request?.call.card)
    expect(request?.asks).toMatchObject([
      { by: expect.stringMatching(/^asks#/) as string, reason: 'may it?' },
      { reason: 'and this?', rule: 'r', offers: [{ id: '1', text: 'probe' }] },
    ])
    expect(() => (request!.asks as unknown[]).push({ by: 'x', reason: 'x' })).toThrow(TypeError)
    expect(() => Object.assign(request?.asks[1]?.offers?.[0] ?? {}, { text: 'everything' })).toThrow(TypeError)
  })

  // 6.3, 12.1
  test('where nobody decides the question carries what those offer who abstain and may allow', async () => {
    const requests: ApprovalRequest[] = []
    const bench = await soundBench({ config: { otherwise: 'ask' } })
    await bench.register(probeTool().definition)
    const port = async (request: ApprovalRequest) => (requests.push(request), { decision: 'rejected', by: 'me' })
    bench.ctx.provide('approval', { ask: port } as never)
    await bench.call('probe')
    expect(requests.pop()?.asks).toEqual([{ by: 'otherwise', reason: 'no rule allows this call' }])
    const offering = (text: string) => () => ({ kind: 'abstain', offers: [{ id: text, text }] })
    await judges(bench, { hooks: () => ({ kind: 'abstain' }), permissions: offering('a'), greedy: offering('b') })
    const settled = await bench.call('probe')
    expect(requests[0]?.asks).toEqual([
      { by: 'otherwise', reason: 'no rule allows this call', offers: [{ id: 'a', text: 'a' }] },
    ])
    expect(askedIn(settled)).toEqual(['hooks', 'permissions:abstain', 'greedy'])
    await judges(bench, { careful: () => ask('sure?') })
    await bench.call('probe')
    expect(requests[1]?.asks).toEqual([{ by: expect.stringMatching(/^careful#/) as string, reason: 'sure?' }])
  })

  // 6.1
  test('each decision has its outcome and its words for the model', async () => {
    const cases: [object, string, string][] = [
      [{ decision: 'rejected', by: 'ann', message: 'use the other file' }, 'rejected', 'use the other file'],
      [{ decision: 'rejected', by: 'ann' }, 'rejected', 'a person said no'],
      [{ decision: 'cancelled', by: 'ann' }, 'cancelled', 'the question was dismissed'],
      [
        { decision: 'unavailable', by: 'x', message: 'nobody answered in time' },
        'unavailable',
        'nobody answered in time',
      ],
      [{ decision: 'rejected', by: 5, message: 5 }, 'rejected', 'a person said no'],
    ]
    for (const [decision, outcome, reason] of cases) {
      const { bench, probe } = await asking(async () => decision)
      const settled = await bench.call('probe')
      expect(steps(settled)[4]).toBe(`approval:${outcome}`)
      expect(settled.result.outcome).toMatchObject({ tag: 'denied', stage: 'approval', reason })
      expect(probe.runs).toBe(0)
    }
    const { bench, probe } = await asking(async () => ({ decision: 'allowed-once', by: 'ann' }))
    const settled = await bench.call('probe')
    expect(stepOf(settled, 'approval').by).toBe('ann')
    expect(probe.runs).toBe(1)
  })

  // 6.3, BUG-034
  test('a grant is for this call and once: the next one is asked about again', async () => {
    const asked: unknown[] = []
    const { bench, probe } = await asking(
      async ({ call }) => (asked.push(call.args), { decision: 'allowed-once', by: 'me', offer: 'none' }),
    )
    await bench.call('probe', { command: 'rm -r build' })
    await bench.call('probe', { command: 'rm -r build' })
    await bench.call('probe', { command: 'rm -r src' })
    expect(asked).toHaveLength(3)
    expect(probe.runs).toBe(3)
  })

  // 6.4
  test('an abort while a person is asked ends the call as aborted, whatever the service does', async () => {
    for (const answer of [
      () => new Promise(() => {}),
      ({ call }: ApprovalRequest) =>
        new Promise((resolve) =>
          call.signal.addEventListener('abort', () => resolve({ decision: 'allowed-once', by: 'late' })),
        ),
    ]) {
      const { bench, probe } = await asking(answer as never, { autoAdvance: false })
      const controller = new AbortController()
      const running = bench.call('probe', {}, { signal: controller.signal })
      await flushMicrotasks()
      controller.abort('stop')
      const settled = await running
      expect(settled.result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: 'stop' })
      expect(steps(settled).slice(4, 6)).toEqual(['approval:aborted', 'normalize:normalized'])
      expect(probe.runs).toBe(0)
    }
  })

  // 6.4
  test('a service that aborts the call while it is asked does not make it hang', async () => {
    const controller = new AbortController()
    const { bench } = await asking(() => (controller.abort('by the service'), new Promise(() => {})), {
      autoAdvance: false,
    })
    const { result } = await bench.call('probe', {}, { signal: controller.signal })
    expect(result.outcome).toMatchObject({ tag: 'aborted', reason: 'by the service' })
  })
})

// BUG-020
test('any deny means that nobody is asked and nothing runs, any ask without a deny means one question', async () => {
  const says = { allow: () => allow, ask: () => ask('asks'), deny: () => deny('denies') } as const
  type Word = keyof typeof says
  const sources = ['permissions', 'hooks', 'third'] as const
  const words: Word[] = ['allow', 'ask', 'deny']
  for (const a of words)
    for (const b of words)
      for (const [first, second] of sources.flatMap((x) => sources.filter((y) => y !== x).map((y) => [x, y] as const)))
        for (const guard of [false, true]) {
          let asked = 0
          const { bench, probe, mounted } = await asking(async () => (asked++, { decision: 'allowed-once', by: 'me' }))
          await mounted[0]?.dispose()
          await judges(bench, { [first]: says[a], [second]: says[b] } as Record<string, VerdictListener>)
          if (guard) await bench.plugin('guard', (ctx) => void ctx.tools.guard('stops', () => 'stopped'))
          const { result } = await bench.call('probe')
          const denied = guard || a === 'deny' || b === 'deny'
          expect(result.outcome.tag).toBe(denied ? 'denied' : 'succeeded')
          expect(probe.runs).toBe(denied ? 0 : 1)
          expect(asked).toBe(!denied && (a === 'ask' || b === 'ask') ? 1 : 0)
        }
})

// 10.1, BUG-006
test('a denied call has its one result in its place, and the others run', async () => {
  const bench = await soundBench()
  const probe = probeTool({ overlap: 'parallel' })
  await bench.register(probe.definition)
  await judges(bench, { 'not-b': (call, next) => (call.id === 'b' ? deny('not b') : next()) })
  const { calls } = await bench.ctx.tools.batch({
    session: bench.session,
    calls: ['a', 'b', 'c'].map((id) => ({ id, tool: 'probe', arguments: {} })),
  })
  expect(calls.map(({ callId, result }) => [callId, result.outcome.tag])).toEqual([
    ['a', 'succeeded'],
    ['b', 'denied'],
    ['c', 'succeeded'],
  ])
  expect(bareName((calls[1]!.result.outcome as { by: string }).by)).toBe('not-b')
  expect(bench.results()).toHaveLength(3)
})
