import { textContent } from '@sluice/tools'
import type { Answer, Question } from '@sluice/approval'
import { deferred } from '@sluice/testkit'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { makeBench, valueOf } from './kit.ts'

let bench: Awaited<ReturnType<typeof makeBench>>
afterEach(() => bench.ctx.fiber.dispose())

describe('a program', () => {
  test('a program calls tools and returns their values, in one call of the model', async () => {
    bench = await makeBench()
    await bench.tool({ name: 'double', execute: ({ n }) => Number(n) * 2 })
    const settled = await bench.program(
      'const all = await Promise.all([1, 2, 3].map((n) => tools.double({ n }))); return all',
    )
    expect(valueOf(settled)).toEqual([2, 4, 6])
    expect(settled.result.content).toEqual(textContent('[2,4,6]'))
    expect(bench.session.events.filter((event) => event.type === 'tool/call')).toHaveLength(1)
  })

  // BUG-083
  test('a sub-call that a plugin denies is a rejection that the program can catch, and its body does not run', async () => {
    bench = await makeBench()
    let runs = 0
    await bench.tool({ name: 'probe', execute: () => ++runs })
    await bench.plugin('no', (own) => {
      own.on('tools/pre-execute', (call, next) =>
        call.tool === 'probe' ? { kind: 'deny', reason: 'not today' } : next(),
      )
    })
    const settled = await bench.program(
      'try { await tools.probe({}) } catch (e) { return [e.code, e.message, e.executed] }',
    )
    expect(valueOf(settled)).toEqual(['denied', 'not today', 'no'])
    expect(runs).toBe(0)
  })

  // BUG-083
  test('each sub-call is asked about by itself, and an answer for the program grants nothing inside', async () => {
    bench = await makeBench({}, 'ask')
    const asked: string[] = []
    bench.ctx.approval.answerer('person', (question) => {
      asked.push(question.callId)
      return { callId: question.callId, kind: question.callId === 'c1.2' ? 'reject' : 'allow-once' }
    })
    await bench.tool({ name: 'probe', execute: ({ n }) => n })
    const settled = await bench.program(
      'return (await Promise.allSettled([1, 2, 3].map((n) => tools.probe({ n })))).map((r) => r.status)',
    )
    expect(valueOf(settled)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(asked.toSorted()).toEqual(['c1', 'c1.1', 'c1.2', 'c1.3'])
  })

  // BUG-083
  test('waiting for a person does not use up the time of the program', async () => {
    bench = await makeBench({ wallMs: 60_000 })
    await bench.plugin('careful', (own) => {
      own.on('tools/pre-execute', (call, next) =>
        call.parent === undefined ? next() : { kind: 'ask', reason: 'sure?' },
      )
    })
    await bench.tool({ name: 'probe', execute: () => 'ran' })
    const open = deferred<Question>()
    const answer = deferred<Answer>()
    bench.ctx.approval.answerer('slow person', (question) => {
      open.resolve(question)
      return answer.promise
    })
    // Started and warm, so that only the waiting is measured.
    await bench.program('return 1')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const settled = bench.program('return await tools.probe({})')
      const { callId } = await open.promise
      vi.advanceTimersByTime(3_600_000)
      answer.resolve({ callId, kind: 'allow-once' })
      expect(valueOf(await settled)).toBe('ran')
    } finally {
      vi.useRealTimers()
    }
  })

  test('sub-calls are logged by their start and their end, with the program as parent, never as calls of the model', async () => {
    bench = await makeBench()
    await bench.tool({ name: 'probe', execute: () => 1 })
    await bench.program('await tools.probe({}); await tools.probe({}); return 1')
    expect(bench.dispatches().map(({ callId, parent, phase }) => [callId, parent, phase])).toEqual([
      ['c1.1', 'c1', 'start'],
      ['c1.1', 'c1', 'settle'],
      ['c1.2', 'c1', 'start'],
      ['c1.2', 'c1', 'settle'],
    ])
    expect(bench.dispatches()[1]?.result?.value).toBe(1)
  })

  test('contexts and the end of the turn pass from a sub-call to the call of the program', async () => {
    bench = await makeBench()
    await bench.tool({
      name: 'probe',
      execute: (_, run) => {
        run.context('remember this')
        run.endTurn()
        return 1
      },
    })
    const { result } = await bench.program('return await tools.probe({})')
    expect(result.contexts).toEqual(['remember this'])
    expect(result.endTurn).toBe(true)
  })

  // BUG-080
  test('a sub-call that nobody awaits is ended with the program and has its record', async () => {
    bench = await makeBench()
    await bench.tool({
      name: 'slow',
      execute: (_, run) =>
        new Promise((_resolve, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason))),
    })
    const settled = await bench.program('tools.slow({}); return 1')
    expect(valueOf(settled)).toBe(1)
    expect(bench.dispatches().map(({ phase }) => phase)).toEqual(['start', 'settle'])
    expect(bench.dispatches()[1]?.result?.outcome.tag).toBe('aborted')
  })

  test('a program cannot call run_code', async () => {
    bench = await makeBench()
    const settled = await bench.program('return typeof tools.run_code')
    expect(valueOf(settled)).toBe('undefined')
  })

  test('a program that fails says how, what it printed, and that its calls stand', async () => {
    bench = await makeBench()
    const { result } = await bench.program('console.log("before"); throw new Error("oops")')
    expect(result.outcome).toMatchObject({ tag: 'failed', code: 'CODE_FAILED', executed: 'yes' })
    expect(result.content).toEqual(
      textContent('The program threw (line 1): oops\nCalls that it had made are not undone.\nIt had printed:\nbefore'),
    )
  })

  test('an abort ends the program and every sub-call', async () => {
    bench = await makeBench()
    const controller = new AbortController()
    await bench.tool({
      name: 'slow',
      execute: (_, run) =>
        new Promise((_resolve, reject) => {
          run.signal.addEventListener('abort', () => reject(run.signal.reason))
          controller.abort(new Error('stop'))
        }),
    })
    const { result } = await bench.program('await tools.slow({})', { signal: controller.signal })
    expect(result.outcome.tag).toBe('aborted')
    expect(bench.dispatches().at(-1)?.phase).toBe('settle')
  })
})
