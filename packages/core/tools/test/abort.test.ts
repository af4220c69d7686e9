/** Proves aborts: how a reason reads, and that one which came before reaches everything that starts after it. */
import type { Attempt } from '@sluice/tools'
import { flushMicrotasks, probeTool } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { soundBench } from './sound.ts'
import { wrap } from './wrappers.ts'

// 7.6
it('the reason of an abort is told in words, whatever it is', async () => {
  const bench = await soundBench()
  await bench.register(probeTool().definition)
  const silent = 'the caller stopped it'
  const rows: [unknown, string][] = [
    [undefined, silent],
    ['the user left', 'the user left'],
    ['', silent],
    [new Error('the lid was closed'), 'the lid was closed'],
    [new Error(''), silent],
    [Object.assign(new Error('This operation was aborted'), { name: 'AbortError' }), silent],
    [5, silent],
    [null, silent],
    [{ name: 'x', message: 'no error' }, silent],
    ['half a surrogate \ud800', 'half a surrogate \ufffd'],
  ]
  for (const [reason, text] of rows) {
    const { result } = await bench.call('probe', {}, { signal: AbortSignal.abort(reason) })
    expect(result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: text })
  }
})

// 7.1, 10.5
it('a wrapper that calls next() after the abort starts nothing, however many wrappers and deadlines stand inside', async () => {
  const bench = await soundBench({ config: { graceMs: 1000 } })
  const abort = new AbortController()
  const probe = probeTool({ annotations: { readOnly: true } })
  await bench.register(probe.definition)
  const seen: string[] = []
  const note = (name: string, attempt: Attempt) => {
    seen.push(`${name} ${attempt.status} ${attempt.executed}`)
    return attempt
  }
  await wrap(
    bench,
    'stopper',
    async (_call, _run, next) => {
      abort.abort(new Error('enough'))
      await flushMicrotasks()
      return note('stopper', await next())
    },
    1,
  )
  await wrap(
    bench,
    'timeout',
    async (_call, run, next) => {
      run.deadline(60_000)
      return note('timeout', await next())
    },
    2,
  )
  await wrap(bench, 'inner', async (_call, _run, next) => note('inner', await next()), 3)
  const { result } = await bench.call('probe', {}, { signal: abort.signal })
  expect(seen).toEqual(['inner aborted no', 'timeout aborted no', 'stopper aborted no'])
  expect(result.outcome).toEqual({ tag: 'aborted', executed: 'no', reason: 'enough' })
  expect(probe.runs).toBe(0)
})

// 7.5
it('a body that asks for its signal after the abort finds it fired, with the reason', async () => {
  const bench = await soundBench()
  const abort = new AbortController()
  const reason = new Error('enough')
  let signal: AbortSignal | undefined
  await bench.register(
    probeTool({
      body: (_args, run) => {
        abort.abort(reason)
        signal = run.signal
      },
    }).definition,
  )
  await bench.call('probe', {}, { signal: abort.signal })
  expect([signal?.aborted, signal?.reason]).toEqual([true, reason])
})
